import 'uplot/dist/uPlot.min.css'
import './styles/index.css'
import { createRoot } from 'react-dom/client'
import { restWhileHidden } from './api/query-client.ts'
import { loadSession } from './api/session.ts'
import { App } from './app.tsx'
import { startSecondTicks } from './state/clock.ts'
import { followSystemTheme } from './state/theme.ts'
import { followOtherTabs } from './state/time-window.ts'

startSecondTicks()
followSystemTheme()
followOtherTabs()
restWhileHidden()

/** A silent server must not keep the page empty: after this time the page stands, and says that it waits. */
const SESSION_WAIT_MS = 500

const root = document.getElementById('root')
if (root) {
  const waited = new Promise((resolve) => setTimeout(resolve, SESSION_WAIT_MS))
  // Without a login nothing else is asked.
  void Promise.race([loadSession(), waited]).then(() => createRoot(root).render(<App />))
}
