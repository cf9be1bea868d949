import 'uplot/dist/uPlot.min.css'
import './styles/fonts.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/components.css'
import './styles/table.css'
import './styles/chart.css'
import './styles/pages.css'
import './styles/devices.css'
import './styles/scenarios.css'
import './styles/explain.css'
import { createRoot } from 'react-dom/client'
import { restWhileHidden } from './api/query-client.ts'
import { App } from './app.tsx'
import { startSecondTicks } from './state/clock.ts'
import { followSystemTheme } from './state/theme.ts'
import { followOtherTabs } from './state/time-window.ts'

startSecondTicks()
followSystemTheme()
followOtherTabs()
restWhileHidden()

const root = document.getElementById('root')
if (root) createRoot(root).render(<App />)
