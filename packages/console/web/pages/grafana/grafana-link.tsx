import { useState } from 'react'
import { Link } from 'wouter'
import { useParams } from '../../api/params.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { usePageState } from '../../state/time-window.ts'
import { GRAFANA_VARIABLES, type GrafanaQuestion, grafanaAddress } from './grafana-address.ts'

interface GrafanaLinkProps {
  /** Undefined: nothing that has a dashboard. */
  readonly question: GrafanaQuestion | undefined
  /** Whether a dialog explains the names of variables. Default: no. */
  readonly hasHelp?: boolean
}

/** The way to a dashboard of Grafana in the window of the page; nothing if Grafana is not configured. */
export function GrafanaLink({ question, hasHelp = false }: GrafanaLinkProps) {
  const page = usePageState()
  const params = useParams().data?.params ?? []
  const [isHelped, setIsHelped] = useState(false)
  const param = (name: string): string => params.find((each) => each.name === name)?.value ?? ''
  const address = question === undefined ? '' : grafanaAddress(param, question, page.range)
  if (question === undefined || address === '') return null
  return (
    <>
      <a className="button" href={address} target="_blank" rel="noreferrer">
        <Icon name="link" /> Open in Grafana
      </a>
      {hasHelp && (
        <button type="button" className="button" onClick={() => setIsHelped(true)}>
          Dashboard filter mismatch?
        </button>
      )}
      {isHelped && (
        <Dialog label="Variables of Grafana dashboards" className="grafana-help" onClose={() => setIsHelped(false)}>
          <h2 className="panel-title">The dashboard shows nothing?</h2>
          <p>
            The link sets variables of the dashboard by name. If yours has other names, set these{' '}
            <Link href={page.hrefTo('/settings')}>parameters</Link>:
          </p>
          <dl className="grafana-variables">
            {GRAFANA_VARIABLES.map((of) => (
              <div key={of}>
                <dt>
                  <code>grafana_dashboard_var_{of}</code>
                </dt>
                <dd>
                  now <code>var-{param(`grafana_dashboard_var_${of}`)}</code>
                </dd>
              </div>
            ))}
          </dl>
          <p>Grafana answers 404 until the dashboard with the UID {question.dashboard} is imported.</p>
          <button type="button" className="button" onClick={() => setIsHelped(false)}>
            Close
          </button>
        </Dialog>
      )}
    </>
  )
}
