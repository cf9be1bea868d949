import { Link } from 'wouter'
import { retryParams, useParams } from '../../api/params.ts'
import { useScraper } from '../../api/scraper.ts'
import { useIdentity } from '../../api/session.ts'
import { useDeliveries, useWebhooks } from '../../api/webhooks.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Banner, type Notice } from '../../components/banner.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { Unanswered } from '../../components/unanswered.tsx'
import { scopedNode } from '../../state/node-scope.ts'
import { usePageState } from '../../state/time-window.ts'
import { usePageTitle } from '../use-page-title.ts'
import { AuditPanel } from './audit-panel.tsx'
import { DeliveriesPanel } from './deliveries-panel.tsx'
import { HistoryPanel } from './history-panel.tsx'
import { ParamPanel } from './param-panel.tsx'
import { ScraperPanel } from './scraper-panel.tsx'
import { WebhooksPanel } from './webhooks-panel.tsx'

/** Parameters, their history, and for an admin the log of changes. Of a node of a console, the switch of scraping. */
export function SettingsPage() {
  usePageTitle('Settings')
  return scopedNode() === '' ? <OwnSettings /> : <NodeSettings />
}

/** Shows the settings of a node, as far as a console knows them. The console cannot change them. */
function NodeSettings() {
  const page = usePageState()
  return (
    <>
      <PageHead title="Settings" note={`of the node ${scopedNode()}`}>
        <Link className="button" href={page.hrefTo('/troubleshooting')}>
          Troubleshooting
        </Link>
        {/* The browser loads the pages of the console anew. */}
        <a className="button" href="/settings">
          Settings of the console
        </a>
      </PageHead>
      <div className="settings">
        <PanelBoundary>
          <ScraperPanel mayChange={false} />
        </PanelBoundary>
      </div>
    </>
  )
}

function OwnSettings() {
  const { data, error } = useParams()
  // A panel that comes alone would move those below it.
  const others = [useScraper(), useWebhooks(), useDeliveries()]
  const areAnswered = others.every((one) => one.data !== undefined || one.error !== undefined)
  const page = usePageState()
  const role = useIdentity()?.role
  const mayChange = role === 'operator' || role === 'admin'
  return (
    <>
      <PageHead
        title="Settings"
        note={mayChange ? 'parameters that hold for everybody who uses this server' : 'an operator can change these'}
      >
        <Link className="button" href={page.hrefTo('/troubleshooting')}>
          Troubleshooting
        </Link>
      </PageHead>
      {!data && error && <Unanswered fact="The parameters are not known." error={error} onRetry={retryParams} />}
      {!error && !(data && areAnswered) && <Outlines panels={2} waitsFor="the parameters" />}
      {data && data.fault !== '' && <Banner notices={[faultNotice(data.fault)]} />}
      {data && areAnswered && (
        <div className="settings">
          <PanelBoundary>
            <ScraperPanel mayChange={mayChange} />
          </PanelBoundary>
          <PanelBoundary>
            <ParamPanel params={data.params} mayChange={mayChange} />
          </PanelBoundary>
          <PanelBoundary>
            <WebhooksPanel mayChange={mayChange} />
          </PanelBoundary>
          <PanelBoundary>
            <DeliveriesPanel />
          </PanelBoundary>
          <PanelBoundary>
            <HistoryPanel history={data.history} mayChange={mayChange} />
          </PanelBoundary>
          {role === 'admin' && (
            <PanelBoundary>
              <AuditPanel />
            </PanelBoundary>
          )}
        </div>
      )}
    </>
  )
}

/** The file of parameters is damaged or cannot be read. */
function faultNotice(fault: string): Notice {
  return {
    id: 'params',
    tone: 'critical',
    fact: 'The parameters cannot be read anew.',
    detail: `${fault}. The last good values hold.`,
  }
}
