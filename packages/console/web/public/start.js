// Runs before everything else. A file of its own: the policy allows no inline script.

// Sets a chosen theme before the first paint, so that the page does not flash.
;(() => {
  try {
    const theme = localStorage.getItem('sonde.theme')
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  } catch {
    // Storage is refused in some privacy modes; the theme of the system is used then.
  }
})()

// Without its script the page would stay empty: browsers drop what is under way when an interface comes or goes, and a
// newer Sonde has files of other names. It is loaded again, and says what is wrong where that does not help.
;(() => {
  const KEY = 'sonde.loads'
  const LOADS_MAX = 3
  const WAIT_MS = 500
  const isPart = (node) =>
    node instanceof HTMLScriptElement || (node instanceof HTMLLinkElement && node.rel === 'stylesheet')
  let isWhole = true

  /** How often this page came in part, this time included. Where that cannot be kept, it is not loaded again. */
  function countLoad() {
    try {
      const loads = Number(sessionStorage.getItem(KEY)) + 1
      sessionStorage.setItem(KEY, String(loads))
      return loads
    } catch {
      return LOADS_MAX
    }
  }

  function forgetLoads() {
    try {
      sessionStorage.removeItem(KEY)
    } catch {
      // Then nothing was kept.
    }
  }

  function say() {
    const link = Object.assign(document.createElement('a'), { href: location.href, textContent: 'Load again' })
    const words = document.createElement('p')
    words.style.margin = '2rem'
    words.setAttribute('role', 'alert')
    words.append('The files of this page did not come. Look whether Sonde still runs. ', link)
    document.body.prepend(words)
  }

  addEventListener('error', ({ target }) => (isWhole &&= !isPart(target)), true)
  addEventListener('load', () => {
    if (isWhole) return forgetLoads()
    const loads = countLoad()
    if (loads < LOADS_MAX) return setTimeout(() => location.reload(), WAIT_MS * loads)
    forgetLoads()
    say()
  })
})()
