// The theme that the visitor chose, before anything is drawn.
{
  const choice = localStorage.getItem("kgrag-theme");
  if (choice) document.documentElement.dataset.theme = choice;
}
