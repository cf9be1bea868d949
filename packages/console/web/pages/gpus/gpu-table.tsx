import type { Hint } from '@sonde/sdk/api'
import { useRef } from 'react'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import type { KnownColumns } from '../../api/use-known-columns.ts'
import { Empty } from '../../components/empty.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { parseSort, type Sort, sortRows } from '../../components/sort.ts'
import { SortHead } from '../../components/sort-head.tsx'
import { Sparkline } from '../../components/sparkline.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { useFirstPosition, useSpan } from '../../components/use-span.ts'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { type DeviceColumns, isSilent } from '../../devices/device-columns.ts'
import { worstByDevice } from '../../devices/hint-words.ts'
import { meanReading, meansWords, type Reading } from '../../devices/reading.ts'
import { largestOfReading, ReadingWords } from '../../devices/reading-words.tsx'
import type { DeviceSignal } from '../../devices/signals.ts'
import { countOf, type DisplayUnit, pickUnit } from '../../format/number.ts'
import {
  BYTES_PER_SECOND,
  CELSIUS,
  MEBIBYTES,
  MEGAHERTZ,
  PERCENT,
  PERCENT_WHOLE,
  type Quantity,
  WATTS,
} from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { DeviceState } from '../device/device-page.tsx'
import type { Moment } from '../use-moment.ts'

/** Columns of numbers: one unit each. */
const COLUMNS: readonly (readonly [signal: DeviceSignal, title: string, quantity: Quantity])[] = [
  ['sm', 'SM', PERCENT],
  ['tensor', 'Tensor', PERCENT],
  ['dram', 'DRAM', PERCENT],
  ['utilisation', 'Kernel running', PERCENT_WHOLE],
  ['memoryUsed', 'Memory', MEBIBYTES],
  ['power', 'Power', WATTS],
  ['temperature', 'Temp', CELSIUS],
  ['clock', 'SM clock', MEGAHERTZ],
  ['nvlinkSent', 'NVLink out', BYTES_PER_SECOND],
  ['pcieSent', 'PCIe out', BYTES_PER_SECOND],
]
const BY_INDEX: Sort = { column: 'gpu', direction: 'ascending' }
const RANKS: Readonly<Record<string, number>> = { critical: 0, warning: 1, notice: 3 }

interface TableProps {
  readonly gpus: readonly DeviceInfo[]
  readonly columns: ReadonlyMap<string, DeviceColumns>
  readonly hints: readonly Hint[]
  /** False if it is not known what rules saw. */
  readonly isJudged: boolean
  readonly moment: Moment
  /** What the samples are of. */
  readonly answer: KnownColumns
}

/** One row a GPU; those that need attention first. */
export function GpuTable({ gpus, columns, hints, isJudged, moment, answer }: TableProps) {
  const page = usePageState()
  const { fromMs, toMs } = useSpan(answer)
  const sparkFrom = useFirstPosition(answer)
  const sort = parseSort(page.url.sort, BY_INDEX)
  const filter = (page.url.q ?? '').toLowerCase()
  const worst = worstByDevice(hints)
  const read = ({ id }: DeviceInfo, signal: DeviceSignal): Reading => meanReading(columns.get(id)?.[signal], moment)
  const isMixed = new Set(gpus.map(({ simulated }) => simulated)).size > 1
  const units = useColumnUnits((signal) => Math.max(0, ...gpus.map((gpu) => largestOfReading(read(gpu, signal)))))
  const matching = gpus.filter((gpu) =>
    `${deviceTitle(gpu)} ${gpu.labels.UUID ?? ''} ${gpu.model}`.toLowerCase().includes(filter),
  )
  const rows = sortRows(
    matching,
    sort.direction,
    (gpu) => {
      const column = COLUMNS.find(([signal]) => signal === sort.column)
      return column ? read(gpu, column[0]).value : deviceTitle(gpu)
    },
    (gpu) => RANKS[worst.get(gpu.id)?.severity ?? ''] ?? (gpu.state === 'gone' ? 1 : 2),
  )
  return (
    <section className="panel" aria-labelledby="gpu-table">
      <header className="panel-head has-line is-centred">
        <h2 id="gpu-table" className="panel-title">
          GPUs
        </h2>
        <span className="panel-caption">{meansWords(moment)}; those that need attention first</span>
        <FilterInput label="Filter GPUs" />
      </header>
      {rows.length === 0 ? (
        <Empty fact={`Nothing matches "${page.url.q ?? ''}".`}>{countOf(gpus.length, 'GPU')} searched.</Empty>
      ) : (
        <TableBox label="Table of GPUs">
          <table className="table has-first-fixed">
            <thead>
              <tr>
                <SortHead column="gpu" sort={sort} kind="text">
                  GPU
                </SortHead>
                <th scope="col">State</th>
                <th scope="col">SM, {formatDuration(toMs - fromMs)}</th>
                {COLUMNS.map(([signal, title]) => (
                  <SortHead key={signal} column={signal} sort={sort}>
                    {title} {units.get(signal)?.label}
                  </SortHead>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((gpu) => (
                <tr key={gpu.id}>
                  <th scope="row">
                    <Link href={page.hrefTo(devicePath(gpu))}>{deviceTitle(gpu)}</Link>{' '}
                    {isMixed && <SimulatedMark of={gpu} />}
                  </th>
                  <td>
                    <DeviceState
                      device={gpu}
                      hint={worst.get(gpu.id)}
                      isJudged={isJudged}
                      isSilent={isSilent(columns.get(gpu.id) ?? {}, moment)}
                    />
                  </td>
                  <td className="is-spark">
                    <Spark values={columns.get(gpu.id)?.sm} from={sparkFrom} />
                  </td>
                  {COLUMNS.map(([signal]) => (
                    <td key={signal} className="is-number num">
                      <ReadingWords unit={units.get(signal)!} reading={read(gpu, signal)} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
    </section>
  )
}

/** One unit a column, chosen from its largest value and kept until a value is ten times off it. */
function useColumnUnits(largestOf: (signal: DeviceSignal) => number): ReadonlyMap<DeviceSignal, DisplayUnit> {
  const units = useRef<ReadonlyMap<DeviceSignal, DisplayUnit>>(new Map())
  units.current = new Map(
    COLUMNS.map(([signal, , quantity]) => [signal, pickUnit(quantity, largestOf(signal), units.current.get(signal))]),
  )
  return units.current
}

function Spark({ values, from }: { readonly values: Float64Array | undefined; readonly from: number }) {
  return values ? <Sparkline values={values} top={1} from={from} to={values.length - 1} /> : null
}
