// Sets the theme of the visitor before the page is drawn.
{
  const choice = localStorage.getItem("kgrag-theme");
  if (choice) document.documentElement.dataset.theme = choice;
}
