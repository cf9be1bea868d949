import type { Hint } from '@sonde/sdk/api'
import { useRef } from 'react'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import type { KnownColumns } from '../../api/use-known-columns.ts'
import { DataTable } from '../../components/data-table.tsx'
import { NothingMatches } from '../../components/nothing-matches.tsx'
import { Panel } from '../../components/panel.tsx'
import { isSick, SICKEST_FIRST, sicknessKey } from '../../components/sickness.ts'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { Sparkline } from '../../components/sparkline.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { useChosenRows } from '../../components/use-chosen-rows.ts'
import { useFirstPosition, useSpan } from '../../components/use-span.ts'
import { orderTone } from '../../devices/affected.ts'
import { AffectedMark } from '../../devices/affected-mark.tsx'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { type DeviceColumns, isIdleDevice, isSilent } from '../../devices/device-columns.ts'
import { type DeviceReading, meanReading, meansWords } from '../../devices/device-reading.ts'
import { worstByDevice } from '../../devices/hint-words.ts'
import { largestOfReading, ReadingWords } from '../../devices/reading-words.tsx'
import type { DeviceSignal } from '../../devices/signals.ts'
import { countText, type DisplayUnit, pickUnit } from '../../format/number.ts'
import {
  BYTES_PER_SECOND,
  CELSIUS,
  type DisplayQuantity,
  MEBIBYTES,
  MEGAHERTZ,
  PERCENT,
  PERCENT_WHOLE,
  WATTS,
} from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { deviceState } from '../device/device-state.ts'
import { useAffected } from '../use-affected.ts'
import type { PageMoment } from '../use-moment.ts'

/** Columns of numbers, with one unit per column. */
const COLUMNS: readonly (readonly [signal: DeviceSignal, title: string, quantity: DisplayQuantity])[] = [
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
interface TableProps {
  readonly gpus: readonly DeviceInfo[]
  readonly columns: ReadonlyMap<string, DeviceColumns>
  readonly hints: readonly Hint[]
  /** False if the hints are unknown. */
  readonly isJudged: boolean
  readonly moment: PageMoment
  /** The answer with the samples. */
  readonly answer: KnownColumns
}

/** One row per GPU, the sickest first. */
export function GpuTable({ gpus, columns, hints, isJudged, moment, answer }: TableProps) {
  const page = usePageState()
  const { fromMs, toMs } = useSpan(answer)
  const sparkFrom = useFirstPosition(answer)
  const worst = worstByDevice(hints)
  const affected = useAffected(moment.window)
  const read = ({ id }: DeviceInfo, signal: DeviceSignal): DeviceReading =>
    meanReading(columns.get(id)?.[signal], moment)
  const stateOf = (gpu: DeviceInfo) =>
    deviceState(gpu, {
      hint: worst.get(gpu.id),
      isJudged,
      isSilent: isSilent(columns.get(gpu.id) ?? {}, moment),
    })
  const toneOf = (gpu: DeviceInfo) => orderTone(stateOf(gpu).tone, affected.get(gpu.id))
  const isMixed = new Set(gpus.map(({ simulated }) => simulated)).size > 1
  const units = useColumnUnits((signal) => Math.max(0, ...gpus.map((gpu) => largestOfReading(read(gpu, signal)))))
  const tableColumns: readonly TableColumn<DeviceInfo>[] = [
    {
      key: 'gpu',
      head: 'GPU',
      kind: 'rowHead',
      cell: (gpu) => (
        <>
          <Link href={page.hrefTo(devicePath(gpu))}>{deviceTitle(gpu)}</Link> {isMixed && <SimulatedMark of={gpu} />}
        </>
      ),
      sortKey: deviceTitle,
    },
    {
      key: 'state',
      head: 'State',
      cell: (gpu) => (
        <>
          <StateMark {...stateOf(gpu)} /> <AffectedMark by={affected.get(gpu.id)} />
        </>
      ),
      sortKey: (gpu) => sicknessKey(toneOf(gpu)),
    },
    {
      key: 'spark',
      head: `SM, ${formatDuration(toMs - fromMs)}`,
      look: 'is-spark',
      cell: ({ id }) => <Spark values={columns.get(id)?.sm} from={sparkFrom} />,
    },
    ...COLUMNS.map(
      ([signal, title]): TableColumn<DeviceInfo> => ({
        key: signal,
        head: `${title} ${units.get(signal)?.label}`,
        kind: 'number',
        cell: (gpu) => <ReadingWords unit={units.get(signal)!} reading={read(gpu, signal)} />,
        sortKey: (gpu) => read(gpu, signal).value,
      }),
    ),
  ]
  const chosen = useChosenRows(gpus, {
    columns: tableColumns,
    fallback: SICKEST_FIRST,
    wordsOf: (gpu) => `${deviceTitle(gpu)} ${gpu.labels.UUID ?? ''} ${gpu.model}`,
    isIdle: (gpu) => !isSick(toneOf(gpu)) && isIdleDevice(columns.get(gpu.id) ?? {}),
    noun: ['GPU', 'GPUs'],
  })
  return (
    <Panel id="gpu-table" title="GPUs" caption={`${meansWords(moment)}; sickest first`} filter="Filter GPUs">
      {chosen.rows.length === 0 ? (
        <NothingMatches searched={countText(gpus.length, 'GPU')} />
      ) : (
        <DataTable
          label="Table of GPUs"
          look="has-first-fixed"
          columns={tableColumns}
          keyOf={({ id }) => id}
          isWindowed
          {...chosen}
        />
      )}
    </Panel>
  )
}

/** One unit per column. It fits the largest value and changes only when a value is off by a factor of ten. */
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
