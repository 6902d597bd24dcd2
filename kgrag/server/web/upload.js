// Files and folders that are chosen or dropped, sent to the address of their place, so many at once as it takes.
(() => {
  const entries = (folder) =>
    new Promise((resolve, reject) => {
      const reader = folder.createReader(), found = [];
      const more = () => reader.readEntries((some) => (some.length ? (found.push(...some), more()) : resolve(found)), reject);
      more();
    });

  async function inside(entry, path) {
    const name = path ? `${path}/${entry.name}` : entry.name;
    if (entry.isFile) return [[await new Promise((resolve, reject) => entry.file(resolve, reject)), name]];
    return (await Promise.all((await entries(entry)).map((one) => inside(one, name)))).flat();
  }

  const size = (files) => files.reduce((sum, [file]) => sum + file.size, 0);

  function* parts(files, most, bytes) {
    let part = [];
    for (const one of files) {
      if (part.length && (part.length >= most || size(part) + one[0].size > bytes)) {
        yield part;
        part = [];
      }
      part.push(one);
    }
    yield part;
  }

  const post = (address, files, progress) =>
    new Promise((resolve) => {
      const form = new FormData(), request = new XMLHttpRequest();
      for (const [file, name] of files) form.append("files", file, name);
      request.upload.onprogress = (event) => progress(event.loaded);
      request.onload = () => resolve({ status: request.status, text: request.responseText });
      request.onerror = () => resolve({ status: 0, text: "" });
      request.open("POST", address);
      request.send(form);
    });

  async function send(place, files) {
    if (!files.length) return;
    const bar = place.querySelector("progress"), all = size(files), { address, files: most, bytes } = place.dataset;
    let sent = 0, end;
    bar.hidden = false;
    for (const part of parts(files, +most, +bytes)) {
      end = await post(address, part, (loaded) => (bar.value = all ? Math.min(1, (sent + loaded) / all) : 0));
      if (end.status < 200 || end.status > 299) break;
      sent += size(part);
    }
    bar.hidden = true;
    emitEvent("kgrag-sent", { ...end, files: files.length });
  }

  window.kgragChosen = (event) => {
    const field = event.target;
    send(field.closest(".drop"), [...field.files].map((file) => [file, file.webkitRelativePath || file.name]));
    field.value = "";
  };
  window.kgragDropped = async (event) => {
    const place = event.currentTarget;
    const dropped = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    send(place, (await Promise.all(dropped.map((entry) => inside(entry, "")))).flat());
  };
})();
