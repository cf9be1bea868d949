import type { Fact } from '../../components/facts.tsx'
import { ABSENT, formatQuantity } from '../../format/number.ts'
import { SECONDS } from '../../format/quantity.ts'
import { formatAge, formatDateTime, type TimeZoneChoice, zoneName } from '../../format/time.ts'
import type { DeviceReadings } from '../device/device-readings.ts'

/** Metrics of the machine whose labels are its facts. */
export const MACHINE_METRICS: readonly string[] = [
  'host_machine_info',
  'host_kernel_info',
  'host_kernel_boot_time_seconds',
  'host_clock_synchronised',
  'host_clock_offset_seconds',
  'host_failed_unit_failed',
]

/** What the host is: system, kernel, processor, server, firmware, start. */
export function machineFacts(
  { infos, last }: Pick<DeviceReadings, 'infos' | 'last'>,
  nowMs: number,
  zone: TimeZoneChoice,
): readonly Fact[] {
  const {
    os = '',
    cpu_model = '',
    vendor = '',
    product = '',
    board = '',
    ...firmware
  } = infos('host_machine_info').at(-1) ?? {}
  const { release = '' } = infos('host_kernel_info').at(-1) ?? {}
  const bootMs = last('host_kernel_boot_time_seconds') * 1000
  return [
    textFact('System', os, release && `Linux ${release}`),
    textFact('Processor', cpu_model, ''),
    textFact('Server', product, [vendor, board && `board ${board}`].filter(Boolean).join(', ')),
    textFact('Firmware', firmware.firmware_version ?? '', firmware.firmware_date ?? ''),
    Number.isNaN(bootMs)
      ? textFact('Up', '', '')
      : {
          label: 'Up',
          value: formatAge(nowMs - bootMs),
          caption: `since ${formatDateTime(bootMs, zone)} ${zoneName(zone, bootMs)}`,
        },
    clockFact(last('host_clock_synchronised'), last('host_clock_offset_seconds')),
    ...failedUnits(infos('host_failed_unit_failed').map(({ unit = '' }) => unit)),
  ]
}

function clockFact(synchronised: number, offset: number): Fact {
  if (Number.isNaN(synchronised)) return textFact('Clock', '', '')
  const caption = `${formatQuantity(SECONDS, Math.abs(offset))} off`
  return synchronised === 1
    ? { label: 'Clock', value: 'Synchronised', caption }
    : { label: 'Clock', value: 'Not synchronised', caption: 'no program sets it, such as chrony', tone: 'warning' }
}

function failedUnits([first, ...others]: readonly string[]): readonly Fact[] {
  if (first === undefined) return []
  const value = others.length === 0 ? first : `${first} and ${others.length} more`
  return [{ label: 'Failed units', value, caption: 'see systemctl status', tone: 'warning' }]
}

function textFact(label: string, value: string, caption: string): Fact {
  return value === '' ? { label, value: ABSENT, caption: caption || 'not reported' } : { label, value, caption }
}
