// The theme that the visitor chose, before anything is drawn.
{
  const chosen = localStorage.getItem("kgrag-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
}
