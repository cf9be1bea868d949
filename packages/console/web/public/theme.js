// Sets a chosen theme before the first paint, so that the page does not flash. A file of its own: the policy allows no inline script.
;(() => {
  try {
    const theme = localStorage.getItem('sonde.theme')
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  } catch {
    // Storage is refused in some privacy modes; the theme of the system is used then.
  }
})()
