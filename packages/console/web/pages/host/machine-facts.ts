import type { Fact } from '../../components/facts.tsx'
import { ABSENT } from '../../format/number.ts'
import { formatAge, formatDateTime, type TimeZoneChoice, zoneName } from '../../format/time.ts'
import type { DeviceReadings } from '../device/device-page.tsx'

/** Metrics of the machine whose labels are its facts. */
export const MACHINE_METRICS: readonly string[] = [
  'host_machine_info',
  'host_kernel_info',
  'host_kernel_boot_time_seconds',
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
  ]
}

function textFact(label: string, value: string, caption: string): Fact {
  return value === '' ? { label, value: ABSENT, caption: caption || 'not told' } : { label, value, caption }
}
