import type { LatestSeries } from '@sonde/sdk/api'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { meansWords, type ReadSpan } from '../../devices/device-reading.ts'
import { ReadingWords } from '../../devices/reading-words.tsx'
import { ABSENT, formatQuantity, pickUnit } from '../../format/number.ts'
import { BITS_PER_SECOND, PERCENT } from '../../format/quantity.ts'
import { type PortQuality, type PriorityRow, qualityWords } from './priority-rows.ts'

const COLUMNS: readonly TableColumn<PriorityRow>[] = [
  { key: 'priority', head: 'Priority', kind: 'rowHead', cell: ({ priority }) => priority },
  {
    key: 'pfc',
    head: 'PFC',
    title: () => 'Priority flow control: a full receiver pauses the sender, so no packet is lost',
    cell: ({ hasPfc }) => (hasPfc === undefined ? ABSENT : hasPfc ? 'on' : 'off'),
  },
  { key: 'use', head: 'Used by', cell: useWords },
  { key: 'dscp', head: 'DSCP', isWide: true, cell: ({ dscps }) => dscps || ABSENT },
  { key: 'sent', head: 'Sent', kind: 'number', cell: ({ sent }) => formatQuantity(BITS_PER_SECOND, sent.value) },
  {
    key: 'received',
    head: 'Received',
    kind: 'number',
    cell: ({ received }) => formatQuantity(BITS_PER_SECOND, received.value),
  },
  {
    key: 'paused',
    head: 'Paused %',
    kind: 'number',
    title: () => 'Share of time in which the other end paused the priority',
    cell: ({ paused }) => <ReadingWords unit={pickUnit(PERCENT, 1)} reading={paused} />,
  },
]

/** How an interface treats priorities, and what each carries. */
export function QualityOfService({
  quality,
  span,
  series,
}: {
  readonly quality: PortQuality
  readonly span: ReadSpan
  /** The latest values of the settings, for the reasons of those that are missing. */
  readonly series: readonly LatestSeries[]
}) {
  const reason = series.find(({ metric, absent }) => metric === 'dcb_port_pfc_mask' && absent !== '')?.absent ?? ''
  return (
    <Panel id="quality" title="Quality of service" caption={meansWords(span)}>
      <p className="panel-note">{qualityWords(quality, reason)}.</p>
      <DataTable
        label="Table of priorities"
        look="has-first-fixed"
        columns={COLUMNS}
        rows={quality.rows}
        keyOf={({ priority }) => priority}
      />
    </Panel>
  )
}

function useWords({ isOfRdma, isDefault }: PriorityRow): string {
  return [isOfRdma ? 'RDMA' : '', isDefault ? 'all without a rule' : ''].filter(Boolean).join(', ')
}
