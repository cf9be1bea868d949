import type { DeviceInfo } from '../../api/devices.ts'
import { useSeriesOfType } from '../../api/resources.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { isSeriesOf } from '../../devices/device.ts'
import { formatQuantity } from '../../format/number.ts'
import { MEBIBYTES, PERCENT } from '../../format/quantity.ts'

const MIG_COLUMNS = [
  ['SM active', 'sm_active', PERCENT],
  ['Tensor active', 'pipe_tensor_active', PERCENT],
  ['DRAM active', 'dram_active', PERCENT],
  ['Memory used', 'fb_used', MEBIBYTES],
] as const

/** The MIG instances of a GPU; empty if the GPU is not split. */
export function MigTable({ device }: { readonly device: DeviceInfo }) {
  const { data } = useSeriesOfType('nvml_mig')
  const series = (data?.series ?? []).filter(({ metric, labels }) => isSeriesOf(device, metric, labels))
  const instances = [...Map.groupBy(series, ({ labels }) => labels.GPU_I_ID ?? '')]
  if (instances.length === 0) return null
  const columns: readonly TableColumn<(typeof instances)[number]>[] = [
    { key: 'instance', head: 'Instance', kind: 'rowHead', cell: ([instance]) => instance },
    { key: 'profile', head: 'Profile', cell: ([, values]) => values[0]?.labels.GPU_I_PROFILE },
    ...MIG_COLUMNS.map(
      ([title, field, quantity]): TableColumn<(typeof instances)[number]> => ({
        key: field,
        head: title,
        kind: 'number',
        cell: ([, values]) => {
          const found = values.find(({ metric }) => metric.toLowerCase().endsWith(field))
          return formatQuantity(quantity, found?.value == null ? Number.NaN : Number(found.value))
        },
      }),
    ),
  ]
  return (
    <Panel id="mig-table" title="MIG instances" caption="each relative to its slice" isPresent>
      <DataTable label="Table of MIG instances" columns={columns} rows={instances} keyOf={([instance]) => instance} />
    </Panel>
  )
}
