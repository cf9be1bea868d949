import type { LatestSeries } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import { useSeriesOfType } from '../../api/resources.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { compareNames } from '../../format/names.ts'
import { formatQuantity } from '../../format/number.ts'
import { BYTES, type DisplayQuantity, PERCENT } from '../../format/quantity.ts'

type VgpuRow = readonly [uuid: string, series: readonly LatestSeries[]]

const COLUMNS: readonly TableColumn<VgpuRow>[] = [
  { key: 'machine', head: 'Virtual machine', kind: 'rowHead', cell: ([, series]) => series[0]?.labels.vm_id },
  { key: 'vgpu', head: 'vGPU', kind: 'number', cell: ([, series]) => series[0]?.labels.vgpu_id },
  { key: 'type', head: 'Type', cell: ([, series]) => series[0]?.labels.vgpu_type },
  number('Utilisation', 'util_ratio', PERCENT),
  number('Memory used', 'memory_used_bytes', BYTES),
  number('Memory', 'memory_bytes', BYTES),
]

/** The virtual GPUs that virtual machines have of a GPU; empty if there are none. */
export function VgpuTable({ device }: { readonly device: DeviceInfo }) {
  const { data } = useSeriesOfType('nvml_vgpu')
  const series = (data?.series ?? []).filter(
    ({ labels }) => labels.UUID === device.labels.UUID && (labels.simulated === 'true') === device.simulated,
  )
  const rows: VgpuRow[] = [...Map.groupBy(series, ({ labels }) => labels.vgpu_uuid ?? '')]
  rows.sort(([, [one]], [, [other]]) => compareNames(one?.labels.vgpu_id ?? '', other?.labels.vgpu_id ?? ''))
  if (rows.length === 0) return null
  return (
    <Panel id="vgpu-table" title="Virtual GPUs" caption="of virtual machines" isPresent>
      <DataTable label="Table of virtual GPUs" columns={COLUMNS} rows={rows} keyOf={([uuid]) => uuid} />
    </Panel>
  )
}

function number(head: string, field: string, quantity: DisplayQuantity): TableColumn<VgpuRow> {
  return {
    key: field,
    head,
    kind: 'number',
    cell([, series]) {
      const found = series.find(({ metric }) => metric === `nvml_vgpu_${field}`)
      return formatQuantity(quantity, found?.value == null ? Number.NaN : Number(found.value))
    },
  }
}
