import type { AppSummary, AppsAnswer } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { useApps } from '../../api/apps.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { PresentCaption } from '../../components/present-caption.tsx'
import { SimulatedOffer } from '../../components/simulated-offer.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { Unanswered } from '../../components/unanswered.tsx'
import { useFirstLook } from '../../components/use-first-look.ts'
import { countOf, formatQuantity } from '../../format/number.ts'
import { PERCENT_WHOLE, WATTS } from '../../format/quantity.ts'
import { usePageState } from '../../state/time-window.ts'
import { NoNumbers } from '../app/no-numbers.tsx'
import { usePageTitle } from '../use-page-title.ts'

/** The apps whose pods hold GPUs. */
export function AppsPage() {
  usePageTitle('Apps')
  const { data, error, retry } = useApps()
  const firstLook = useFirstLook()
  return (
    <>
      <PageHead title="Apps" note={data && data.apps.length > 0 && totalWords(data)} />
      {!data && !error && <Outlines panels={2} waitsFor="the list of apps" />}
      {!data && error && <Unanswered fact="The apps are not known." error={error} onRetry={retry} />}
      {data?.apps.length === 0 && !isUnasked(data) && <NoNumbers answer={data} />}
      {data?.apps.length === 0 && isUnasked(data) && firstLook !== '' && <Outlines panels={2} waitsFor={firstLook} />}
      {data?.apps.length === 0 && isUnasked(data) && firstLook === '' && (
        <>
          <Empty fact="No pod holds a GPU here.">
            Pods come with an exporter that names them (
            <code className="mono">data_sources: - type: dcgm_exporter</code>
            ).
          </Empty>
          <SimulatedOffer />
        </>
      )}
      {data && data.apps.length > 0 && <AppTable apps={data.apps} />}
    </>
  )
}

/** Whether an exporter is all that is missing, or pods: else what is there to read GPUs says why it does not. */
function isUnasked({ state }: AppsAnswer): boolean {
  return state === 'no_source' || state === 'no_pods'
}

/** What all apps have together: a GPU that several share counts once. */
function totalWords({ apps, total: { gpus, sharedGpus, powerW } }: AppsAnswer): string {
  const facts = [
    countOf(apps.length, 'app with GPU pods', 'apps with GPU pods'),
    countOf(gpus, 'GPU'),
    powerW !== null && formatQuantity(WATTS, powerW),
    sharedGpus > 0 && `${sharedGpus} shared, counted once`,
  ]
  return facts.filter(Boolean).join(' · ')
}

function AppTable({ apps }: { readonly apps: readonly AppSummary[] }) {
  const page = usePageState()
  return (
    <section className="panel apps-panel" aria-labelledby="app-table">
      <header className="panel-head has-line">
        <h2 id="app-table" className="panel-title">
          Apps
        </h2>
        <PresentCaption>utilisation is the mean of the pods at the latest sample</PresentCaption>
      </header>
      <TableBox label="Table of apps">
        <table className="table has-first-fixed">
          <thead>
            <tr>
              <th scope="col">App</th>
              <th scope="col" className="is-number">
                Services
              </th>
              <th scope="col" className="is-number">
                GPU pods
              </th>
              <th scope="col" className="is-number">
                GPUs
              </th>
              <th scope="col" className="is-number">
                Utilisation
              </th>
              <th scope="col" className="is-number">
                Power
              </th>
            </tr>
          </thead>
          <tbody>
            {apps.map(({ name, services, pods, gpus, sharedGpus, util, powerW }) => (
              <tr key={name}>
                <th scope="row">
                  {name === '' ? (
                    'no app'
                  ) : (
                    <Link href={page.hrefTo(`/apps/${encodeURIComponent(name)}/gpu`)}>{name}</Link>
                  )}
                </th>
                <td className="is-number num">{services}</td>
                <td className="is-number num">{pods}</td>
                <td className="is-number num">
                  {gpus}
                  {sharedGpus > 0 && ` · ${sharedGpus} shared`}
                </td>
                <td className="is-number num">{formatQuantity(PERCENT_WHOLE, util?.avg ?? Number.NaN)}</td>
                <td className="is-number num">{formatQuantity(WATTS, powerW ?? Number.NaN)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  )
}
