import type { RecordType } from '@sonde/sdk'
import { ReadFailure } from '../kernel-file.ts'
import { parseMicrowatts, parseMillidegrees, parseRpm } from './parse-sysfs.ts'
import type { HostReader } from './reader.ts'
import { type FieldFile, FileSeries, type FoundSeries, slowPart } from './slow-part.ts'
import { hostFanType, hostPowerType, hostTemperatureType } from './type.ts'

const FOLDER = ['class', 'hwmon'] as const
const MONITOR = /^hwmon\d{1,4}$/
const INPUT = /^((temp|fan|power)\d{1,3})_(input|average)$/
/** A core is as hot as its package says; there may be hundreds. */
const CORE = /^Core \d+$/
const SENSOR_LIMIT = 128
const READS_PER_SWEEP = 4

interface SensorKind {
  readonly type: RecordType
  readonly field: string
  readonly parse: FieldFile['parse']
  /** Ends of the names of files that hold limits, by the field that each is. */
  readonly limits: Readonly<Record<string, string>>
}

const KINDS: Readonly<Record<string, SensorKind>> = {
  temp: {
    type: hostTemperatureType,
    field: 'celsius',
    parse: parseMillidegrees,
    limits: { limit_celsius: 'max', critical_celsius: 'crit' },
  },
  fan: { type: hostFanType, field: 'rpm', parse: parseRpm, limits: { minimum_rpm: 'min', maximum_rpm: 'max' } },
  power: {
    type: hostPowerType,
    field: 'watts',
    parse: parseMicrowatts,
    limits: { cap_watts: 'cap', limit_watts: 'max', critical_watts: 'crit' },
  },
}
const NONE = 'no monitor of hardware has one; virtual machines have none'

/** Temperatures, fans and power of the kernel's hardware monitors. */
export const sensors = slowPart({
  types: Object.values(KINDS).map(({ type }) => [type, NONE]),
  limit: ['sensor_limit', SENSOR_LIMIT],
  readsPerSweep: READS_PER_SWEEP,
  folder: FOLDER,
  finder: (reader) => (names) =>
    names
      .filter((name) => MONITOR.test(name))
      .sort()
      .flatMap((monitor) => sensorsOf(reader, monitor)),
})

/** Monitors get their numbers anew at every start: a device is told by the link to it. */
function sensorsOf(reader: HostReader, monitor: string): FoundSeries[] {
  const { sysfs } = reader
  const names = sysfs.list(...FOLDER, monitor)
  if (names instanceof ReadFailure) return []
  const file = (name: string) => sysfs.file(...FOLDER, monitor, name)
  const chip = reader.text(file('name')) ?? monitor
  const link = sysfs.linkName(...FOLDER, monitor, 'device')
  const device = link instanceof ReadFailure ? monitor : link
  const taken = new Set<string>()
  return names.sort().flatMap((name) => {
    const [, stem = '', kind = '', end] = INPUT.exec(name) ?? []
    const known = KINDS[kind]
    if (known === undefined || (end === 'average' && names.includes(`${stem}_input`))) return []
    const label = (names.includes(`${stem}_label`) ? reader.text(file(`${stem}_label`)) : undefined) ?? stem
    if (CORE.test(label)) return []
    const sensor = taken.has(`${kind} ${label}`) ? `${label} ${stem}` : label
    taken.add(`${kind} ${label}`)
    const { type, field, parse, limits } = known
    const found = { type, labels: { device, chip, sensor } }
    const filesOf = () => [
      { field, file: file(name), parse },
      ...Object.entries(limits).map(([limit, suffix]) => ({ field: limit, file: file(`${stem}_${suffix}`), parse })),
    ]
    const open = () => new FileSeries(reader, found, filesOf())
    return [{ ...found, place: `${monitor}/${name}`, open }]
  })
}
