// The layout of a drawing: the forces between nodes, and the paths of edges. Nothing here touches the page.

/** @typedef {import("./drawing.js").Spot} Spot */
/** @typedef {import("./drawing.js").Tie} Tie */
/** @typedef {[number, number, number, number]} Box left, top, right, bottom */

const LENGTH = 60, LONGER = 50, FEW = 30; // of an edge, from circle to circle: longer by that where so few nodes leave room
const PUSH = 1100, PULL_IN = 0.055, GAP = 14, FAR = 1e6; // forces; FAR is the square of the distance at which none is felt
const HEAVY = 0.25; // how far old nodes move, as a share
const TURN = Math.PI * (3 - Math.sqrt(5)); // the golden angle: points around a middle, evenly

/**
 * Place new nodes beside their neighbours; nodes without any go around the middle, or beside the drawing.
 * @param {Spot[]} fresh
 * @param {Spot[]} there
 * @param {Tie[]} ties
 */
export function seat(fresh, there, ties) {
  /** @type {Map<Spot, Spot[]>} */
  const tied = new Map();
  for (const { start, end } of ties) {
    tied.set(start, [...(tied.get(start) ?? []), end]);
    tied.set(end, [...(tied.get(end) ?? []), start]);
  }
  let waiting = fresh;
  for (let more = there.length > 0; more;) {
    const left = waiting.filter((spot) => !sitBeside(spot, tied.get(spot) ?? [], fresh.indexOf(spot)));
    more = left.length < waiting.length;
    waiting = left;
  }
  const beside = there.length > 0 ? around(there)[2] + 2 * LENGTH : 0;
  waiting.forEach((spot, place) => {
    const far = 22 * Math.sqrt(place + 0.5);
    spot.x = beside + far * Math.cos(place * TURN);
    spot.y = far * Math.sin(place * TURN);
  });
}

/** @param {Spot} spot @param {Spot[]} tied @param {number} place */
function sitBeside(spot, tied, place) {
  const other = tied.find((one) => Number.isFinite(one.x));
  if (!other) return false;
  const out = Math.atan2(other.y, other.x), angle = out + ((place * TURN) % (2 * Math.PI) - Math.PI) * 0.7;
  spot.x = other.x + LENGTH * Math.cos(angle);
  spot.y = other.y + LENGTH * Math.sin(angle);
  return true;
}

/**
 * Run one step of the forces: nodes repel each other, edges and the middle attract, and circles do not overlap.
 * @param {Spot[]} spots
 * @param {Tie[]} ties
 * @param {number} heat from 1 to 0
 * @param {number} wide how much wider the drawing is than high
 */
export function step(spots, ties, heat, wide) {
  for (let i = 0; i < spots.length; i++) {
    const a = spots[i];
    for (let j = i + 1; j < spots.length; j++) {
      const b = spots[j];
      const dx = b.x - a.x || 0.01 * (j - i), dy = b.y - a.y, square = dx * dx + dy * dy, near = a.r + b.r + GAP;
      if (square > FAR) continue;
      let away = heat * PUSH / square;
      if (square < near * near) away = Math.min(away, 0.5) + 0.3 * (near / Math.sqrt(square) - 1);
      const x = dx * Math.min(away, 20), y = dy * Math.min(away, 20);
      a.vx -= x; a.vy -= y;
      b.vx += x; b.vy += y;
    }
  }
  const length = LENGTH + LONGER * Math.min(1, FEW / spots.length);
  for (const { start, end } of ties) {
    if (start === end) continue;
    const dx = end.x - start.x, dy = end.y - start.y, far = Math.hypot(dx, dy) || 1;
    const pull = heat * (far - length - start.r - end.r) / far / Math.min(start.ties, end.ties);
    const share = start.ties / (start.ties + end.ties); // the one with more edges stays
    start.vx += dx * pull * (1 - share); start.vy += dy * pull * (1 - share);
    end.vx -= dx * pull * share; end.vy -= dy * pull * share;
  }
  for (const spot of spots) {
    spot.vx = (spot.vx - spot.x * heat * PULL_IN / wide) * 0.6;
    spot.vy = (spot.vy - spot.y * heat * PULL_IN * wide) * 0.6;
    if (spot.pinned) continue;
    spot.x += spot.vx * (spot.old ? HEAVY : 1);
    spot.y += spot.vy * (spot.old ? HEAVY : 1);
  }
}

/** The box around nodes and their names. @param {Spot[]} spots @returns {Box} */
export function around(spots) {
  /** @type {Box} */
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y, r } of spots) {
    if (x - r < box[0]) box[0] = x - r;
    if (y - r < box[1]) box[1] = y - r;
    if (x + r > box[2]) box[2] = x + r;
    if (y + r > box[3]) box[3] = y + r;
  }
  return Number.isFinite(box[0]) ? box : [0, 0, 0, 0];
}

/** @param {Box} a @param {Box} b */
export function overlap(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

/** Whether a box overlaps one of others. @param {Box} box @param {Box[]} others */
export function lies(box, others) {
  return others.some((other) => overlap(box, other));
}

/** The middle of an edge, and its control point. @param {Tie} tie */
export function middle({ start, end, bend }) {
  const dx = end.x - start.x, dy = end.y - start.y, far = Math.hypot(dx, dy) || 1;
  const x = (start.x + end.x) / 2, y = (start.y + end.y) / 2, ox = -dy / far * bend, oy = dx / far * bend;
  return { x: x + ox, y: y + oy, toX: x + 2 * ox, toY: y + 2 * oy };
}

/** An edge as a path, from circle to circle, with the head of its arrow. @param {Tie} tie */
export function way(tie) {
  const { start, end } = tie;
  if (start === end) return loop(start, tie.bend);
  const { toX, toY } = middle(tie);
  const [ax, ay] = toward(start, toX, toY, start.r + 1), [bx, by] = toward(end, toX, toY, end.r + 3);
  const ux = (bx - end.x) / (end.r + 3), uy = (by - end.y) / (end.r + 3);
  const head = [1, -1].map((side) => `${round(bx + 7 * (ux - side * 0.5 * uy))} ${round(by + 7 * (uy + side * 0.5 * ux))}`);
  const line = tie.bend === 0 ? "L" : `Q${round(toX)} ${round(toY)} `;
  return `M${round(ax)} ${round(ay)}${line}${round(bx)} ${round(by)}M${head[0]}L${round(bx)} ${round(by)}L${head[1]}`;
}

/** An edge from a node to itself. @param {Spot} spot @param {number} bend */
function loop({ x, y, r }, bend) {
  const high = 2.6 * r + Math.abs(bend);
  return `M${round(x - 0.6 * r)} ${round(y - 0.8 * r)}C${round(x - 1.6 * r)} ${round(y - high)} ${round(x + 1.6 * r)} ${round(y - high)} `
    + `${round(x + 0.6 * r)} ${round(y - 0.8 * r)}`;
}

/** The point at a distance from a node toward another point. @param {Spot} spot @param {number} x @param {number} y @param {number} by */
function toward(spot, x, y, by) {
  const far = Math.hypot(x - spot.x, y - spot.y) || 1;
  return [spot.x + (x - spot.x) / far * by, spot.y + (y - spot.y) / far * by];
}

/** @param {number} value */
export const round = (value) => Math.round(value * 10) / 10;
