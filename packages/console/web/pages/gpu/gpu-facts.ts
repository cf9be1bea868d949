import type { DeviceInfo } from '../../api/devices.ts'
import type { Fact } from '../../components/facts.tsx'
import { ABSENT, countText, formatQuantity, groupThousands } from '../../format/number.ts'
import { CELSIUS, MEBIBYTES, PERCENT, PERCENT_WHOLE, WATTS } from '../../format/quantity.ts'
import type { DeviceReadings } from '../device/device-readings.ts'
import { countFact, numberFact } from '../device/facts.ts'
import { lastXids, XID_EVENTS } from './last-xid.ts'

/** Metrics that the facts read exactly. */
export const GPU_TOTALS: readonly string[] = [
  'DCGM_FI_DEV_ECC_DBE_VOL_TOTAL',
  'DCGM_FI_DEV_ECC_SBE_VOL_TOTAL',
  'DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS',
  'DCGM_FI_DEV_XID_ERRORS',
  XID_EVENTS,
]

/** The facts of a GPU: load, power and health. */
export function gpuFacts(
  { limits }: DeviceInfo,
  { newest, last, mean, exact, all, judge }: DeviceReadings,
): readonly Fact[] {
  const total = last('DCGM_FI_DEV_FB_TOTAL')
  const cap = last('DCGM_FI_DEV_ENFORCED_POWER_LIMIT')
  const limit = Number.isNaN(cap) ? (limits.power_watts ?? Number.NaN) : cap
  const uncorrected = exact('DCGM_FI_DEV_ECC_DBE_VOL_TOTAL')
  const xids = lastXids(exact('DCGM_FI_DEV_XID_ERRORS'), all(XID_EVENTS))
  const told = (xids ?? []).map((xid) => ({ metric: XID_EVENTS, labels: { xid } }))
  return [
    numberFact('SM active', PERCENT, mean('DCGM_FI_PROF_SM_ACTIVE'), 'an SM had work'),
    numberFact('Utilisation', PERCENT_WHOLE, mean('DCGM_FI_DEV_GPU_UTIL'), 'a kernel was running'),
    numberFact('Tensor active', PERCENT, mean('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE'), 'a tensor pipe was busy'),
    numberFact('DRAM active', PERCENT, mean('DCGM_FI_PROF_DRAM_ACTIVE'), 'memory was busy'),
    numberFact('Memory used', MEBIBYTES, newest('DCGM_FI_DEV_FB_USED'), of(formatQuantity(MEBIBYTES, total), total)),
    numberFact('Power', WATTS, mean('DCGM_FI_DEV_POWER_USAGE'), of(formatQuantity(WATTS, limit), limit)),
    judge(
      numberFact(
        'Temperature',
        CELSIUS,
        newest('DCGM_FI_DEV_GPU_TEMP'),
        `memory ${formatQuantity(CELSIUS, newest('DCGM_FI_DEV_MEMORY_TEMP').value)}`,
      ),
      'DCGM_FI_DEV_GPU_TEMP',
    ),
    judge(countFact('ECC uncorrected', uncorrected, correctedWords(exact)), 'DCGM_FI_DEV_ECC_DBE_VOL_TOTAL'),
    // Most XIDs are errors of the application. Rules decide which XIDs are faults.
    judge(xidFact(xids), ...told),
  ]
}

function xidFact(xids: readonly string[] | undefined): Fact {
  if (xids === undefined) return { label: 'Last XID', value: ABSENT, caption: 'not reported' }
  if (xids.length === 0) return { label: 'Last XID', value: 'none', caption: 'since the driver was loaded' }
  return { label: 'Last XID', value: xids.join(', '), caption: 'stays until the driver restarts' }
}

function of(text: string, value: number): string {
  return Number.isNaN(value) ? '' : `of ${text}`
}

/** Corrected errors and remapped memory rows, in words. */
function correctedWords(exact: DeviceReadings['exact']): string {
  const corrected = exact('DCGM_FI_DEV_ECC_SBE_VOL_TOTAL')
  const rows = exact('DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS')
  return [
    corrected === undefined ? 'corrected not reported' : `${groupThousands(corrected)} corrected`,
    rows === undefined ? '' : countText(Number(rows), 'row remapped', 'rows remapped'),
  ]
    .filter(Boolean)
    .join(', ')
}
