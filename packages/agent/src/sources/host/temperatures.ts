import { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { SourceContext } from '../source.ts'
import { parseLabel, parseMillidegrees } from './parse.ts'
import type { HostPart, HostReader } from './reader.ts'
import { hostTemperatureType } from './type.ts'

const FOLDER = ['class', 'hwmon'] as const
const MONITOR = /^hwmon\d{1,4}$/
const INPUT = /^(temp\d{1,3})_input$/
/** A core is as hot as its package says; there may be hundreds. */
const CORE = /^Core \d+$/
/** Sensors at most; further ones are counted as dropped. */
const SENSOR_LIMIT = 64
/** Sensors read in one sweep, the others repeat what was last read: to ask a disk or an adapter is a command to its firmware. */
const READS_PER_SWEEP = 4
/** Sweeps after which the list of monitors is looked at again. */
const SWEEPS_PER_LOOK = 16

interface Sensor {
  readonly labels: { readonly device: string; readonly chip: string; readonly sensor: string }
  readonly input: KernelFile
  readonly limit: KernelFile
  readonly critical: KernelFile
  readonly absences: FieldAbsences
  celsius: number | undefined
  limitCelsius: number | undefined
  criticalCelsius: number | undefined
}

/** Temperature sensors of the kernel's hardware monitors. */
export class Temperatures implements HostPart {
  readonly #context: SourceContext
  readonly #reader: HostReader
  readonly #sysfs: KernelFiles
  readonly #absences: FieldAbsences
  #sensors = new Map<string, Sensor>()
  #left = 0
  #sweep = 0
  #turn = 0

  constructor(context: SourceContext, reader: HostReader, sysfs: KernelFiles, absences: FieldAbsences) {
    this.#context = context
    this.#reader = reader
    this.#sysfs = sysfs
    this.#absences = absences
  }

  sample(time: bigint): boolean {
    if (this.#sweep++ % SWEEPS_PER_LOOK === 0) this.#look()
    const sensors = [...this.#sensors.values()]
    for (let i = 0; i < Math.min(READS_PER_SWEEP, sensors.length); i++) {
      const sensor = sensors[this.#turn++ % sensors.length]
      if (sensor !== undefined) this.#read(sensor)
    }
    for (const { labels, celsius, limitCelsius, criticalCelsius } of sensors) {
      if (celsius === undefined) continue
      const limits = { limit_celsius: limitCelsius, critical_celsius: criticalCelsius }
      this.#context.source.report(hostTemperatureType, { time, ...labels, celsius, ...limits })
    }
    if (this.#left > 0) this.#context.dropped('sensor_limit', this.#left)
    return sensors.some(({ celsius }) => celsius !== undefined)
  }

  #read(sensor: Sensor): void {
    const { input, absences } = sensor
    const read = this.#reader.read(input, [absences], (bytes) => {
      const celsius = parseMillidegrees(bytes)
      return celsius === undefined ? 'holds no temperature' : { celsius }
    })
    sensor.celsius = read?.celsius
    if (read === undefined) return
    sensor.limitCelsius = this.#reader.field(sensor.limit, absences, 'limit_celsius', parseMillidegrees)
    sensor.criticalCelsius = this.#reader.field(sensor.critical, absences, 'critical_celsius', parseMillidegrees)
  }

  /** Finds the sensors there are. Monitors get their numbers anew at every start: a device is told by the link to it. */
  #look(): void {
    const listed = this.#sysfs.list(...FOLDER)
    const found = new Map<string, Sensor>()
    this.#left = 0
    for (const monitor of listed instanceof ReadFailure ? [] : listed.filter((name) => MONITOR.test(name)).sort()) {
      for (const sensor of this.#sensorsOf(monitor)) {
        const key = `${sensor.input.path} ${Object.values(sensor.labels).join('/')}`
        if (found.size < SENSOR_LIMIT) found.set(key, this.#sensors.get(key) ?? sensor)
        else this.#left++
      }
    }
    for (const [key, { labels, input }] of this.#sensors) {
      if (found.has(key)) continue
      input.close()
      this.#context.absences.gone(hostTemperatureType, labels, 'the sensor is no longer there')
    }
    this.#sensors = found
    if (found.size > 0) this.#absences.present('')
    else this.#absences.absent('', 'unsupported', 'the kernel has no monitor of hardware; virtual machines have none')
  }

  #sensorsOf(monitor: string): Sensor[] {
    const names = this.#sysfs.list(...FOLDER, monitor)
    if (names instanceof ReadFailure) return []
    const chip = this.#text(monitor, 'name') ?? monitor
    const link = this.#sysfs.linkName(...FOLDER, monitor, 'device')
    const device = link instanceof ReadFailure ? monitor : link
    return names.sort().flatMap((name) => {
      const stem = INPUT.exec(name)?.[1]
      if (stem === undefined) return []
      const sensor = (names.includes(`${stem}_label`) ? this.#text(monitor, `${stem}_label`) : undefined) ?? stem
      if (CORE.test(sensor)) return []
      const labels = { device, chip, sensor }
      const file = (kind: string) => this.#sysfs.file(...FOLDER, monitor, `${stem}_${kind}`)
      const absences = new FieldAbsences(this.#context.absences, hostTemperatureType, labels)
      const values = { celsius: undefined, limitCelsius: undefined, criticalCelsius: undefined }
      return [{ labels, input: file('input'), limit: file('max'), critical: file('crit'), absences, ...values }]
    })
  }

  /** Text that the kernel lists, and so must give. */
  #text(monitor: string, name: string): string | undefined {
    const file = this.#sysfs.file(...FOLDER, monitor, name)
    const bytes = file.read()
    file.close()
    const label = bytes instanceof ReadFailure ? undefined : parseLabel(bytes)
    if (label === undefined) this.#reader.wrong(file, 'gives no name')
    return label
  }
}
