import type { AppSummary, AppsAnswer } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { useApps } from '../../api/apps.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/empty.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { Panel } from '../../components/panel.tsx'
import { SimulatedOffer } from '../../components/simulated-offer.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { Unanswered } from '../../components/unanswered.tsx'
import { useFirstLook } from '../../components/use-first-look.ts'
import { appPath, podPath } from '../../devices/pod-path.ts'
import { countText, formatQuantity } from '../../format/number.ts'
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

/** Whether only an exporter or pods are missing. In other states the sources of GPUs give the reason. */
function isUnasked({ state }: AppsAnswer): boolean {
  return state === 'no_source' || state === 'no_pods'
}

/** Totals over all apps. A shared GPU counts once. */
function totalWords({ apps, total: { gpus, sharedGpus, powerW } }: AppsAnswer): string {
  const facts = [
    countText(apps.length, 'app with GPU pods', 'apps with GPU pods'),
    countText(gpus, 'GPU'),
    powerW !== null && formatQuantity(WATTS, powerW),
    sharedGpus > 0 && `${sharedGpus} shared, counted once`,
  ]
  return facts.filter(Boolean).join(' · ')
}

/** One row per app, in the order of the server: the sickest first. */
function AppTable({ apps }: { readonly apps: readonly AppSummary[] }) {
  const page = usePageState()
  const columns: readonly TableColumn<AppSummary>[] = [
    {
      key: 'app',
      head: 'App',
      kind: 'rowHead',
      cell: ({ name }) => (name === '' ? 'no app' : <Link href={page.hrefTo(appPath(name))}>{name}</Link>),
    },
    {
      key: 'state',
      head: 'State',
      look: 'is-row',
      cell: ({ condition: { tone, words } }) => <StateMark tone={tone} word={words} />,
    },
    {
      key: 'util',
      head: 'Utilisation',
      label: 'Utilisation',
      kind: 'number',
      cell: ({ util }) => formatQuantity(PERCENT_WHOLE, util?.avg ?? Number.NaN),
    },
    {
      key: 'power',
      head: 'Power',
      label: 'Power',
      kind: 'number',
      cell: ({ powerW }) => formatQuantity(WATTS, powerW ?? Number.NaN),
    },
    {
      key: 'gpus',
      head: 'GPUs',
      label: 'GPUs',
      kind: 'number',
      cell: ({ gpus, sharedGpus }) => (sharedGpus > 0 ? `${gpus} · ${sharedGpus} shared` : gpus),
    },
    { key: 'pods', head: 'GPU pods', label: 'GPU pods', kind: 'number', cell: ({ pods }) => pods },
    { key: 'services', head: 'Services', label: 'Services', kind: 'number', cell: ({ services }) => services },
    {
      key: 'namespaces',
      head: 'Namespace',
      label: 'Namespace',
      look: ({ namespaces }) => (namespaces.length === 0 ? 'is-empty' : ''),
      title: ({ namespaces }) => namespaces.join(', '),
      cell: ({ namespaces }) => severalWords(namespaces, 'namespaces'),
    },
    {
      key: 'nodes',
      head: 'Node',
      label: 'Node',
      look: ({ nodes }) => (nodes.length === 0 ? 'is-empty' : ''),
      title: ({ nodes }) => nodes.join(', ') || 'no source reports it',
      cell: ({ nodes }) => severalWords(nodes, 'nodes'),
    },
    {
      key: 'pod-names',
      head: 'Pods, sickest first',
      look: 'is-row',
      cell: (app) => <PodNames app={app} />,
    },
  ]
  const caption = 'the sickest first; utilisation is the mean of the pods at the latest sample'
  return (
    <Panel id="app-table" title="Apps" caption={caption} isPresent className="apps-panel">
      <DataTable label="Table of apps" look="is-stacked" columns={columns} rows={apps} keyOf={({ name }) => name} />
    </Panel>
  )
}

/** Links to the first pods of an app, and to the others on its page. */
function PodNames({ app: { name, podNames, pods } }: { readonly app: AppSummary }) {
  const page = usePageState()
  const more = pods - podNames.length
  return (
    <span className="app-pods">
      {podNames.map((pod) => (
        <Link key={`${pod.namespace}/${pod.name}`} href={page.hrefTo(podPath(pod))} title={pod.name}>
          {pod.name}
        </Link>
      ))}
      {more > 0 && name !== '' && <Link href={page.hrefTo(appPath(name))}>{more} more</Link>}
      {more > 0 && name === '' && <span>{more} more</span>}
    </span>
  )
}

/** The only name, or how many there are. */
function severalWords(names: readonly string[], noun: string): string {
  const [only = '–'] = names
  return names.length < 2 ? only : `${names.length} ${noun}`
}
