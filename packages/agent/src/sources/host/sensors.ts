import { ReadFailure } from '../kernel-file.ts'
import type { HostReader } from './reader.ts'
import { INPUT, SENSOR_KINDS } from './sensor-kinds.ts'
import { FileSeries, type FoundSeries, slowPart } from './slow-part.ts'

const FOLDER = ['class', 'hwmon'] as const
const MONITOR = /^hwmon(\d{1,4})$/
/** Single cores are left out: their package has a sensor, and there may be hundreds of cores. */
const CORE = /^Core \d+$/
const SENSOR_LIMIT = 128
const READS_PER_SWEEP = 4

const NONE = 'no monitor of hardware has one; virtual machines have none'

/** Temperatures, fans and power from the hardware monitors of the kernel. */
export const sensors = slowPart({
  types: Object.values(SENSOR_KINDS).map(({ type }) => [type, NONE]),
  limit: ['sensor_limit', SENSOR_LIMIT],
  readsPerSweep: READS_PER_SWEEP,
  folder: FOLDER,
  finder: (reader) => (names) => {
    const counts = new Map<string, number>()
    return names
      .flatMap((name) => MONITOR.exec(name)?.[1] ?? [])
      .sort((a, b) => Number(a) - Number(b))
      .flatMap((number) => sensorsOf(reader, `hwmon${number}`, counts))
  },
})

/**
 * Finds the sensors of one monitor. The numbers of monitors change with every boot, so the link to the device
 * identifies a sensor, together with the name of the chip.
 *
 * @param counts Number of monitors so far, by chip and name. The second monitor of the same name gets the number 2.
 */
function sensorsOf(reader: HostReader, monitor: string, counts: Map<string, number>): FoundSeries[] {
  const { sysfs } = reader
  const own = sysfs.list(...FOLDER, monitor)
  if (own instanceof ReadFailure) return []
  // Old drivers, such as that of ACPI power meters, put their files into the folder of the device.
  const beside = [...FOLDER, monitor, 'device']
  const folder = own.some((name) => INPUT.test(name)) ? [...FOLDER, monitor] : beside
  const names = folder === beside ? sysfs.list(...beside) : own
  if (names instanceof ReadFailure || !names.some((name) => INPUT.test(name))) return []
  const file = (name: string) => sysfs.file(...folder, name)
  const link = sysfs.linkName(...beside)
  const chip = link instanceof ReadFailure ? monitor : link
  const name = reader.text(own.includes('name') ? sysfs.file(...FOLDER, monitor, 'name') : file('name')) ?? monitor
  const count = (counts.get(`${chip} ${name}`) ?? 0) + 1
  counts.set(`${chip} ${name}`, count)
  const chip_name = count === 1 ? name : `${name} ${count}`
  const taken = new Set<string>()
  return names.sort().flatMap((name) => {
    const [, stem = '', kind = '', end] = INPUT.exec(name) ?? []
    const known = SENSOR_KINDS[kind]
    if (known === undefined || (end === 'average' && names.includes(`${stem}_input`))) return []
    const label = (names.includes(`${stem}_label`) ? reader.text(file(`${stem}_label`)) : undefined) ?? stem
    if (CORE.test(label)) return []
    const sensor = taken.has(`${kind} ${label}`) ? `${label} ${stem}` : label
    taken.add(`${kind} ${sensor}`)
    const { type, field, parse, limits } = known
    const found = { type, labels: { chip, chip_name, sensor } }
    const filesOf = () => [
      { field, file: file(name), parse },
      ...Object.entries(limits).map(([limit, suffix]) => ({ field: limit, file: file(`${stem}_${suffix}`), parse })),
    ]
    const open = () => new FileSeries(reader, found, filesOf())
    return [{ ...found, place: [...folder, name].join('/'), open }]
  })
}
