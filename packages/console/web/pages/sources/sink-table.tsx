import type { ListedSink } from '@sonde/sdk/api'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { groupThousands } from '../../format/number.ts'
import { droppedCount } from '../source-words.ts'
import { DropReasons } from './drop-reasons.tsx'

/** A lag beyond this is no longer that of batches. Unit: seconds. */
const LAG_TROUBLE_S = 60

/** What the views of Sonde itself serve. Destinations have the names that the configuration gives them. */
const SERVES: Readonly<Record<string, string>> = {
  prometheus: '/metrics',
  infos: 'info metrics',
  recent: 'live charts',
  devices: 'list of devices',
  hints: 'rules of hints',
  pods: 'pods and their GPUs',
  traceback: 'rules of traceback',
  origins: 'changes of the source of a series',
  store: 'history',
}

const COLUMNS: readonly TableColumn<ListedSink>[] = [
  { key: 'sink', head: 'Sink', kind: 'rowHead', cell: ({ name }) => name },
  { key: 'serves', head: 'Serves', look: 'is-quiet', cell: ({ name }) => SERVES[name] ?? 'a destination' },
  {
    key: 'state',
    head: 'State',
    cell: (sink) => {
      const dropped = droppedCount(sink)
      const isTrouble = sink.failing !== '' || dropped > 0 || sink.errors > 0 || sink.fallback !== undefined
      return <StateMark tone={isTrouble ? 'warning' : 'ok'} word={stateOf(sink, dropped)} />
    },
  },
  { key: 'set', head: 'Set', cell: setOf },
  { key: 'in', head: 'Records in', kind: 'number', cell: (sink) => groupThousands(String(sink.in)) },
  { key: 'out', head: 'Out', kind: 'number', cell: ({ out }) => groupThousands(String(out)) },
  {
    key: 'waiting',
    head: 'Waiting',
    kind: 'number',
    cell: (sink) => groupThousands(String(Math.max(0, sink.in - sink.out - droppedCount(sink)))),
  },
  {
    key: 'queue',
    head: 'Queue bytes',
    kind: 'number',
    cell: ({ queuedBytes }) => (queuedBytes === undefined ? '' : groupThousands(String(queuedBytes))),
  },
  {
    key: 'lag',
    head: 'Lag s',
    kind: 'number',
    look: ({ lagS = 0 }) => (lagS > LAG_TROUBLE_S ? 'is-trouble' : ''),
    cell: ({ lagS }) => (lagS === undefined ? '' : groupThousands(lagS.toFixed(lagS < LAG_TROUBLE_S ? 1 : 0))),
  },
  {
    key: 'dropped',
    head: 'Dropped',
    kind: 'number',
    cell: (sink) => <DropReasons count={droppedCount(sink)} dropped={sink.dropped} />,
  },
  {
    key: 'errors',
    head: 'Errors',
    kind: 'number',
    look: ({ errors }) => (errors > 0 ? 'is-trouble' : ''),
    cell: ({ errors }) => groupThousands(String(errors)),
  },
  {
    key: 'spent',
    head: 'Time spent ms',
    kind: 'number',
    cell: ({ seconds }) => groupThousands((seconds * 1000).toFixed(0)),
  },
]

/** What it is given: `core, every 15 s`. Views get everything. */
function setOf({ set, intervalS }: Pick<ListedSink, 'set' | 'intervalS'>): string {
  return intervalS === 0 ? set : `${set}, every ${intervalS} s`
}

/** One row per sink: records received, passed on and dropped. */
export function SinkTable({ sinks }: { readonly sinks: readonly ListedSink[] }) {
  return (
    <Panel id="sink-table" title="Sinks" caption="since the start" isPresent>
      <DataTable
        label="Table of sinks"
        look="has-first-fixed"
        columns={COLUMNS}
        rows={sinks}
        keyOf={({ name }) => name}
      />
    </Panel>
  )
}

function stateOf({ failing, errors, causes, fallback }: ListedSink, dropped: number): string {
  if (failing !== '') return `Failing: ${failing}`
  const words = Object.values(causes).join('; ')
  if (dropped > 0) return words === '' ? 'Dropped records' : `Dropped records: ${words}`
  if (fallback !== undefined) return `Taking records: ${fallback}`
  return errors > 0 ? 'Had errors' : 'Taking records'
}
