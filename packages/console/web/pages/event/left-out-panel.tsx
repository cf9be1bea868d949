import type { EventAnswer, LeftOutStretch } from '@sonde/sdk/api'
import { useDevices } from '../../api/devices.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { groupThousands } from '../../format/number.ts'
import { formatDuration } from '../../format/time.ts'
import { eventPlace } from '../incidents/event-device.ts'

/** Spans that the size limit of the event left out. Lanes are hatched there. */
export function LeftOutPanel({ answer }: { readonly answer: EventAnswer }) {
  const { event, leftOut } = answer
  const { isSimulated } = event
  const devices = useDevices().data?.devices ?? []
  if (leftOut.length === 0) return null
  const columns: readonly TableColumn<LeftOutStretch>[] = [
    {
      key: 'of',
      head: 'Samples of',
      cell: ({ type, source }) => (
        <>
          {type} <span className="is-quiet">{source}</span>
        </>
      ),
    },
    {
      key: 'device',
      head: 'Device',
      label: 'device',
      cell: ({ device }) => (device === '' ? 'all' : eventPlace({ device, isSimulated }, devices)),
    },
    {
      key: 'from',
      head: 'From',
      kind: 'number',
      label: 'from',
      cell: ({ fromMs }) => sinceStart(fromMs - event.startMs),
    },
    { key: 'to', head: 'To', kind: 'number', label: 'to', cell: ({ toMs }) => sinceStart(toMs - event.startMs) },
    {
      key: 'about',
      head: 'About',
      kind: 'number',
      label: 'about',
      cell: ({ samples }) => `${groupThousands(String(samples))} samples`,
    },
  ]
  return (
    <Panel id="left-out" title="Left out" caption="for the size of the event">
      <DataTable
        label="Table of spans left out"
        look="is-stacked"
        columns={columns}
        rows={leftOut}
        keyOf={({ source, type, device, fromMs }) => `${source} ${type} ${device} ${fromMs}`}
      />
    </Panel>
  )
}

function sinceStart(ms: number): string {
  return `${ms < 0 ? '−' : '+'}${formatDuration(Math.abs(ms))}`
}
