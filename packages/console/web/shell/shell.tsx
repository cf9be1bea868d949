import { type ReactNode, useState } from 'react'
import { useLocation } from 'wouter'
import { useNode } from '../api/resources.ts'
import { StaleContext, useWatchedStale } from '../api/stale.ts'
import { Banner } from '../components/banner.tsx'
import { usePageState } from '../state/time-window.ts'
import { KeysSheet } from './keys-sheet.tsx'
import { NavigationRail } from './navigation-rail.tsx'
import { ScenarioSheet } from './scenarios/scenario-sheet.tsx'
import { SearchSheet } from './search-sheet.tsx'
import { TimeStrip } from './time-strip.tsx'
import { isTimeless, TopBar } from './top-bar.tsx'
import { useNotices } from './use-notices.ts'
import { type ShellSheet, useShortcuts } from './use-shortcuts.ts'

/** The frame around every page. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const { data: node } = useNode()
  const notices = useNotices()
  const [sheet, setSheet] = useState<ShellSheet>()
  useShortcuts(setSheet)
  const page = usePageState()
  const [location] = useLocation()
  const watched = useWatchedStale()
  // The numbers of a fixed window are never stale.
  const stale = page.isLive ? watched : undefined
  const close = (): void => setSheet(undefined)
  return (
    <div className={node?.simulated ? 'shell is-simulated' : 'shell'}>
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <NavigationRail onKeys={() => setSheet('keys')} />
      <TopBar onSearch={() => setSheet('search')} onScenarios={() => setSheet('scenarios')} />
      {!isTimeless(location, node) && <TimeStrip />}
      <main id="content" className={stale ? 'content is-stale' : 'content'} tabIndex={-1}>
        <Banner notices={notices} />
        <StaleContext value={stale}>{children}</StaleContext>
      </main>
      {sheet === 'search' && <SearchSheet onClose={close} />}
      {sheet === 'keys' && <KeysSheet onClose={close} />}
      {sheet === 'scenarios' && <ScenarioSheet onClose={close} />}
    </div>
  )
}
