import type { ScraperAnswer } from '@sonde/sdk/api'
import { useState } from 'react'
import { Link } from 'wouter'
import type { ApiError } from '../../api/client.ts'
import { useNode } from '../../api/resources.ts'
import { resetScraper, switchScraper, useScraper } from '../../api/scraper.ts'
import { Icon } from '../../components/icon.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { Switch } from '../../components/switch.tsx'
import { scopedNode } from '../../state/node-scope.ts'
import { usePageState } from '../../state/time-window.ts'
import { SCRAPER_MARKS, scraperMark } from '../scraper-words.ts'

/** The switch of the scraping of GPU exporters, with the state that the scrapers report. */
export function ScraperPanel({ mayChange }: { readonly mayChange: boolean }) {
  const { data, error } = useScraper()
  return (
    <Panel id="gpu-scraper" title="GPU scraper" caption="reads dcgm-exporter for the pages of apps">
      {!data && error && <p className="panel-note">{error.message}</p>}
      {data && <ScraperState answer={data} mayChange={mayChange} />}
    </Panel>
  )
}

function ScraperState({ answer, mayChange }: { readonly answer: ScraperAnswer; readonly mayChange: boolean }) {
  const page = usePageState()
  const command = useNode().data?.command ?? 'sonde'
  const [fault, setFault] = useState('')
  const change = async (make: () => Promise<void>): Promise<void> => {
    setFault('')
    await make().catch((error: ApiError) => setFault(error.message))
  }
  const { isOn, state, summary, scrapers } = answer
  const node = scopedNode()
  // A console changes nothing on its nodes.
  const locked = answer.locked || (node === '' ? '' : `Only ${node} itself can switch this. There, run:`)
  const isCommandShown = locked === '' || answer.locked === ''
  return (
    <div className="scraper">
      <div className="scraper-head">
        <Switch
          label="Scrape GPU exporters"
          isOn={isOn}
          isLocked={!mayChange || locked !== ''}
          describedBy="scraper-note"
          onSwitch={(next) => void change(() => switchScraper(next))}
        />
        <p className="scraper-state" aria-live="polite">
          <StateMark {...scraperMark(answer)} />
          <span>{summary}</span>
        </p>
        {state === 'error' && mayChange && node === '' && scrapers.length > 0 && (
          <button type="button" className="button" onClick={() => void change(resetScraper)}>
            Reset
          </button>
        )}
      </div>
      <p id="scraper-note" className="param-hint">
        <span>
          {locked === '' ? 'The command: ' : `${locked} `}
          {isCommandShown && (
            <code>
              {command} params set gpu_scraper_enable={String(!isOn)}
            </code>
          )}
          {answer.locked !== '' && <Link href={page.hrefTo('/troubleshooting')}>Troubleshooting</Link>}
        </span>
      </p>
      {scrapers.length > 1 && (
        <ul className="scraper-list">
          {scrapers.map(({ name, state: own, detail }) => (
            <li key={name}>
              <StateMark {...SCRAPER_MARKS[own]} /> <code>{name}</code> {detail}
            </li>
          ))}
        </ul>
      )}
      {fault !== '' && (
        <p className="param-fault" role="alert">
          <Icon name="critical" /> {fault}
        </p>
      )}
    </div>
  )
}
