import type { AttributeReader } from '../attribute-reader.ts'
import { Missing } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { parseNumber } from '../kernel-text.ts'
import { impossible, QUANTITIES } from '../ranges/quantities.ts'
import { withinRange } from '../ranges/within.ts'
import { parseKilohertz, parseLabel, parseMilliseconds } from './parse-sysfs.ts'
import type { HostReader } from './reader.ts'
import { type FieldFile, type FoundSeries, type SlowSeries, slowPart } from './slow-part.ts'
import { hostCpuPackageType } from './type.ts'

const FOLDER = ['devices', 'system', 'cpu'] as const
const CPU = /^cpu(\d{1,5})$/
const PACKAGE_LIMIT = 64
/** A package has two files for each of its cores. */
const READS_PER_SWEEP = 1

/** Files of a package. Every CPU of the package has them with the same values; the first CPU is read. */
const PACKAGE_FILES: readonly (readonly [field: string, path: readonly string[], parse: FieldFile['parse']])[] = [
  ['throttles_total', ['thermal_throttle', 'package_throttle_count'], parseNumber],
  ['throttled_seconds_total', ['thermal_throttle', 'package_throttle_total_time_ms'], parseMilliseconds],
  ['frequency_limit_hertz', ['cpufreq', 'scaling_max_freq'], parseKilohertz],
  ['frequency_max_hertz', ['cpufreq', 'cpuinfo_max_freq'], parseKilohertz],
  ['governor', ['cpufreq', 'scaling_governor'], parseLabel],
]
/** Files of each core; their values are added. */
const CORE_FILES: readonly (readonly [field: string, name: string, parse: FieldFile['parse']])[] = [
  ['core_throttles_total', 'core_throttle_count', parseNumber],
  ['core_throttled_seconds_total', 'core_throttle_total_time_ms', parseMilliseconds],
]

/** A package and its CPUs that are online. */
interface Package {
  readonly id: string
  readonly first: number
  /** The first CPU of each core. */
  readonly cores: readonly number[]
}

/** Processor packages: how often heat slowed them down, and the limits of their clocks. */
export const cpuPackages = slowPart({
  types: [[hostCpuPackageType, 'the kernel reports neither heat nor clocks of processors; virtual machines have none']],
  limit: ['package_limit', PACKAGE_LIMIT],
  readsPerSweep: READS_PER_SWEEP,
  folder: FOLDER,
  finder(reader) {
    const topology = new Topology(reader)
    const lastCounts: LastCounts = new Map()
    return (names) => {
      const cpus = names.flatMap((name) => CPU.exec(name)?.[1] ?? []).map(Number)
      return topology.packages(cpus).map((one): FoundSeries => {
        const place = `${one.first} of ${one.cores.join(' ')}`
        return {
          type: hostCpuPackageType,
          labels: { package: one.id },
          place,
          open: () => new CpuPackage(reader, one, lastCounts),
        }
      })
    }
  },
})

/** Groups CPUs by package and by core. It asks few of them: each CPU lists all CPUs of its package and of its core. */
class Topology {
  readonly #reader: HostReader
  readonly #sysfs: KernelFiles
  /** The threads of each core, which never change. */
  readonly #threads = new Map<number, readonly number[]>()

  constructor(reader: HostReader) {
    this.#reader = reader
    this.#sysfs = reader.sysfs
  }

  packages(cpus: readonly number[]): Package[] {
    const packages: Omit<Package, 'id'>[] = []
    const ids: (number | undefined)[] = []
    const left = new Set(cpus.toSorted((a, b) => a - b))
    for (const first of left) {
      left.delete(first)
      if (!this.#hasFiles(first)) continue
      const file = this.#file(first, 'physical_package_id')
      const bytes = file.read()
      // A CPU that is offline belongs to no package.
      if (bytes instanceof ReadFailure && bytes.kind === 'missing') continue
      const id = this.#reader.text(file)
      const all = this.#list(first, 'core_siblings_list')
      if (id === undefined || all === undefined) continue
      for (const cpu of all) left.delete(cpu)
      packages.push({ first, cores: this.#cores(all) })
      ids.push(packageNumber(id))
    }
    return packages.map((one, index) => ({ id: String(ids[index] ?? freeNumber(ids, index)), ...one }))
  }

  /** Whether the kernel has files about heat or clocks of a CPU. */
  #hasFiles(cpu: number): boolean {
    const listed = this.#sysfs.list(...FOLDER, `cpu${cpu}`)
    return !(listed instanceof ReadFailure) && listed.some((name) => name === 'thermal_throttle' || name === 'cpufreq')
  }

  #cores(cpus: readonly number[]): number[] {
    const cores: number[] = []
    const left = new Set(cpus)
    for (const cpu of left) {
      const threads = this.#threads.get(cpu) ?? this.#list(cpu, 'thread_siblings_list')
      if (threads !== undefined) this.#threads.set(cpu, threads)
      for (const thread of threads ?? []) left.delete(thread)
      cores.push(cpu)
    }
    return cores
  }

  #list(cpu: number, attribute: string): number[] | undefined {
    const file = this.#file(cpu, attribute)
    const value = this.#reader.list(file)
    file.close()
    return value
  }

  #file(cpu: number, attribute: string): KernelFile {
    return this.#sysfs.file(...FOLDER, `cpu${cpu}`, 'topology', attribute)
  }
}

/**
 * The last counts of cores, by package, field and core. They outlive a {@link CpuPackage}, which is opened again when a
 * core goes offline.
 */
type LastCounts = Map<string, Map<number, number>>

/** One package, with all its cores. */
class CpuPackage implements SlowSeries {
  values: Readonly<Record<string, unknown>> | undefined
  readonly #attributes: AttributeReader
  readonly #files: readonly FieldFile[]
  readonly #sums: readonly (FieldFile & { readonly core: number; readonly last: Map<number, number> })[]

  constructor(reader: HostReader, { id, first, cores }: Package, lastCounts: LastCounts) {
    const file = (cpu: number, ...path: readonly string[]): KernelFile =>
      reader.sysfs.file(...FOLDER, `cpu${cpu}`, ...path)
    this.#attributes = reader.attributes(hostCpuPackageType, { package: id })
    this.#files = PACKAGE_FILES.map(([field, path, parse]) => ({
      ...{ field, file: file(first, ...path) },
      parse: withinRange(hostCpuPackageType, field, parse),
    }))
    this.#sums = CORE_FILES.flatMap(([field, attribute, parse]) => {
      const key = `${id} ${field}`
      const last = lastCounts.get(key) ?? new Map<number, number>()
      lastCounts.set(key, last)
      return cores.map((core) => ({ field, core, last, file: file(core, 'thermal_throttle', attribute), parse }))
    })
  }

  read(): void {
    const values: Record<string, unknown> = {}
    for (const { field, file, parse } of this.#files) values[field] = this.#attributes.read(field, file, parse)
    for (const [field] of CORE_FILES) values[field] = this.#sum(field)
    this.values = Object.values(values).some((value) => value !== undefined) ? values : undefined
  }

  close(): void {
    for (const { file } of [...this.#files, ...this.#sums]) file.close()
  }

  /**
   * Adds the counts of all cores. A core that is offline or cannot be read keeps its last count, because a sum that
   * falls looks like a restart.
   */
  #sum(field: string): number | undefined {
    let lack: Missing | undefined
    let last: ReadonlyMap<number, number> = new Map()
    for (const one of this.#sums) {
      if (one.field !== field) continue
      const value = this.#attributes.value(one.file, one.parse)
      if (!(value instanceof Missing)) one.last.set(one.core, Number(value))
      else if (!one.last.has(one.core)) lack ??= value
      last = one.last
    }
    const sum = [...last.values()].reduce((all, count) => all + count, 0)
    return this.#attributes.absences.settle(field, lack ?? sum)
  }
}

/** Parses the number of a package; undefined if the kernel gives −1 because the firmware does not report it. */
function packageNumber(text: string): number | undefined {
  const number = Number(text)
  return Number.isInteger(number) && impossible(QUANTITIES.package, number) === undefined ? number : undefined
}

/** Chooses a free number for a package without one. The kernel still lists its CPUs. */
function freeNumber(ids: (number | undefined)[], index: number): number {
  let number = 0
  while (ids.includes(number)) number++
  ids[index] = number
  return number
}
