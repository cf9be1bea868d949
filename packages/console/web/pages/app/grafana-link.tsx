import type { AppGpuAnswer } from '@sonde/sdk/api'
import { useState } from 'react'
import { Link } from 'wouter'
import { useParams } from '../../api/params.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { usePageState } from '../../state/time-window.ts'
import { grafanaAddress } from './grafana-address.ts'

const VARIABLES = ['app', 'service', 'namespace', 'rack'] as const

/** The way to the dashboard of an app in Grafana; nothing if Grafana is not configured. */
export function GrafanaLink({ app, answer }: { readonly app: string; readonly answer: AppGpuAnswer | undefined }) {
  const page = usePageState()
  const params = useParams().data?.params ?? []
  const [isHelped, setIsHelped] = useState(false)
  const param = (name: string): string => params.find((each) => each.name === name)?.value ?? ''
  const namespaces = new Set(answer?.pods.map(({ namespace }) => namespace))
  const [only = ''] = namespaces.size === 1 ? namespaces : []
  const address = grafanaAddress(param, { app, namespace: only, range: page.range })
  if (address === '') return null
  return (
    <>
      <a className="button" href={address} target="_blank" rel="noreferrer">
        <Icon name="link" /> Open in Grafana
      </a>
      <button type="button" className="button" onClick={() => setIsHelped(true)}>
        Dashboard filter mismatch?
      </button>
      {isHelped && (
        <Dialog label="Variables of Grafana dashboards" className="grafana-help" onClose={() => setIsHelped(false)}>
          <h2 className="panel-title">The dashboard shows nothing?</h2>
          <p>
            The link sets variables of the dashboard by name. If yours has other names, set these{' '}
            <Link href={page.hrefTo('/settings')}>parameters</Link>:
          </p>
          <dl className="grafana-variables">
            {VARIABLES.map((of) => (
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
          <p>Grafana answers 404 until the dashboard with the UID sonde-gpu-app is imported.</p>
          <button type="button" className="button" onClick={() => setIsHelped(false)}>
            Close
          </button>
        </Dialog>
      )}
    </>
  )
}
