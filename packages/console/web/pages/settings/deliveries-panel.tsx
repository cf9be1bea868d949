import type { WebhookDelivery } from '@sonde/sdk/api'
import { useDeliveries } from '../../api/webhooks.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText } from '../../format/number.ts'
import { formatDateTime } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { deliveryMark } from './delivery-words.ts'

/** The last deliveries of webhooks, the latest first. Nothing is shown before the first. */
export function DeliveriesPanel() {
  const { data } = useDeliveries()
  const zone = usePageState().url.tz ?? 'utc'
  if (data === undefined || data.deliveries.length === 0) return null
  const { deliveries, leftOut, forgotten } = data
  const columns: readonly TableColumn<WebhookDelivery>[] = [
    { key: 'time', head: 'Time', kind: 'rowHead', look: 'num', cell: ({ queuedMs }) => formatDateTime(queuedMs, zone) },
    { key: 'receiver', head: 'Receiver', cell: ({ receiver }) => receiver },
    { key: 'event', head: 'Event', cell: ({ type }) => type },
    { key: 'attempts', head: 'Attempts', label: 'Attempts', kind: 'number', cell: ({ attempts }) => attempts },
    {
      key: 'state',
      head: 'Result',
      isWide: true,
      look: 'is-wrapping',
      cell: (delivery) => <StateMark {...deliveryMark(delivery)} />,
    },
  ]
  const earlier = leftOut + forgotten
  return (
    <Panel
      id="deliveries"
      title="Last deliveries"
      caption={earlier > 0 ? `and ${countText(earlier, 'earlier one', 'earlier ones')}` : ''}
    >
      <DataTable
        label="Table of deliveries"
        look="is-stacked"
        columns={columns}
        rows={deliveries}
        keyOf={({ id, receiver }) => `${id} ${receiver}`}
        isBoxed
      />
    </Panel>
  )
}
