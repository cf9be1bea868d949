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

const root = document.getElementById('root')
// Without a login nothing else is asked.
if (root) void loadSession().then(() => createRoot(root).render(<App />))
