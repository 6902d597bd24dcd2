// Files and folders that are chosen or dropped, sent to the address of their place in one request.
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

  function send(place, files) {
    if (!files.length) return;
    const form = new FormData();
    for (const [file, name] of files) form.append("files", file, name);
    const bar = place.querySelector("progress"), request = new XMLHttpRequest();
    const end = (status, text) => {
      bar.hidden = true;
      emitEvent("kgrag-sent", { status, text, files: files.length });
    };
    bar.hidden = false;
    request.upload.onprogress = (event) => (bar.value = event.total ? event.loaded / event.total : 0);
    request.onload = () => end(request.status, request.responseText);
    request.onerror = () => end(0, "");
    request.open("POST", place.dataset.address);
    request.send(form);
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
