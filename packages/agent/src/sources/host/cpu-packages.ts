import type { Labels } from '@sonde/sdk'
import { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { SourceContext } from '../source.ts'
import { parseCount, parseKilohertz, parseLabel, parseMilliseconds } from './parse-sysfs.ts'
import { type HostReader, NoValue } from './reader.ts'
import { type FieldFile, type FoundSeries, SlowPart, type SlowSeries } from './slow-part.ts'
import { hostCpuPackageType } from './type.ts'

const FOLDER = ['devices', 'system', 'cpu'] as const
const CPU = /^cpu(\d{1,5})$/
const PACKAGE_LIMIT = 64
/** Two files of each of its cores. */
const READS_PER_SWEEP = 1

/** Files of the first CPU of a package, which say the same as those of the others. */
const PACKAGE_FILES: readonly (readonly [field: string, path: readonly string[], parse: FieldFile['parse']])[] = [
  ['throttles_total', ['thermal_throttle', 'package_throttle_count'], parseCount],
  ['throttled_seconds_total', ['thermal_throttle', 'package_throttle_total_time_ms'], parseMilliseconds],
  ['frequency_limit_hertz', ['cpufreq', 'scaling_max_freq'], parseKilohertz],
  ['frequency_max_hertz', ['cpufreq', 'cpuinfo_max_freq'], parseKilohertz],
  ['governor', ['cpufreq', 'scaling_governor'], parseLabel],
]
/** Files of each core, which are added up. */
const CORE_FILES: readonly (readonly [field: string, name: string, parse: FieldFile['parse']])[] = [
  ['core_throttles_total', 'core_throttle_count', parseCount],
  ['core_throttled_seconds_total', 'core_throttle_total_time_ms', parseMilliseconds],
]

/** Where a CPU is. */
interface Place {
  readonly cpu: number
  readonly package: string
  /** The first CPU of the same core. */
  readonly core: number
}

/** Processor packages: how often heat slowed them down, and what clocks they may have. */
export function cpuPackages(context: SourceContext, reader: HostReader, sysfs: KernelFiles): SlowPart {
  // A CPU keeps its place; to ask hundreds at each look would take long.
  const places = new Map<string, Place>()
  return new SlowPart(context, {
    types: [[hostCpuPackageType, 'the kernel tells neither heat nor clocks of processors; virtual machines have none']],
    limit: ['package_limit', PACKAGE_LIMIT],
    readsPerSweep: READS_PER_SWEEP,
    look() {
      const listed = sysfs.list(...FOLDER)
      if (listed instanceof ReadFailure) return listed
      const names = listed.filter((name) => CPU.test(name))
      if (!names.some((name) => name === 'cpu0') || !tells(sysfs)) return []
      const found = names.flatMap((name) => {
        const place = places.get(name) ?? placeOf(reader, sysfs, name)
        if (place === undefined) return []
        places.set(name, place)
        return [place]
      })
      const packages = Map.groupBy(found, (place) => place.package)
      return [...packages].map(([name, cpus]): FoundSeries => {
        const cores = [...new Set(cpus.map(({ core }) => core))].sort((a, b) => a - b)
        const first = Math.min(...cpus.map(({ cpu }) => cpu))
        const labels = { package: name }
        const open = () => new CpuPackage(context, reader, sysfs, { labels, first, cores })
        return { type: hostCpuPackageType, labels, place: `${first} of ${cores.join(' ')}`, open }
      })
    },
  })
}

/** Whether the kernel tells anything of the first CPU, which is never offline. */
function tells(sysfs: KernelFiles): boolean {
  const listed = sysfs.list(...FOLDER, 'cpu0')
  return !(listed instanceof ReadFailure) && listed.some((name) => name === 'thermal_throttle' || name === 'cpufreq')
}

/** Undefined where the CPU is offline: it has no place then. */
function placeOf(reader: HostReader, sysfs: KernelFiles, name: string): Place | undefined {
  const file = (attribute: string) => sysfs.file(...FOLDER, name, 'topology', attribute)
  const physical = file('physical_package_id')
  const bytes = physical.read()
  if (bytes instanceof ReadFailure && bytes.kind === 'missing') return undefined
  const [id, siblings] = [reader.text(physical), reader.text(file('thread_siblings_list'))]
  const core = Number.parseInt(siblings ?? '', 10)
  const cpu = Number(CPU.exec(name)?.[1])
  return id === undefined || !/^\d{1,5}$/.test(id) || Number.isNaN(core) ? undefined : { cpu, package: id, core }
}

/** One package, with all its cores. */
class CpuPackage implements SlowSeries {
  values: Readonly<Record<string, unknown>> | undefined
  readonly #reader: HostReader
  readonly #absences: FieldAbsences
  readonly #files: readonly FieldFile[]
  readonly #sums: readonly (FieldFile & { last: number | undefined })[]

  constructor(
    context: SourceContext,
    reader: HostReader,
    sysfs: KernelFiles,
    { labels, first, cores }: { readonly labels: Labels; readonly first: number; readonly cores: readonly number[] },
  ) {
    const file = (cpu: number, ...path: readonly string[]): KernelFile => sysfs.file(...FOLDER, `cpu${cpu}`, ...path)
    this.#reader = reader
    this.#absences = new FieldAbsences(context.absences, hostCpuPackageType, labels)
    this.#files = PACKAGE_FILES.map(([field, path, parse]) => ({ field, file: file(first, ...path), parse }))
    this.#sums = CORE_FILES.flatMap(([field, attribute, parse]) =>
      cores.map((core) => ({ field, file: file(core, 'thermal_throttle', attribute), parse, last: undefined })),
    )
  }

  read(): void {
    const values: Record<string, unknown> = {}
    for (const { field, file, parse } of this.#files)
      values[field] = this.#reader.field(file, this.#absences, field, parse)
    for (const [field] of CORE_FILES) values[field] = this.#sum(field)
    this.values = Object.values(values).some((value) => value !== undefined) ? values : undefined
  }

  close(): void {
    for (const { file } of [...this.#files, ...this.#sums]) file.close()
  }

  /** A core that cannot be read keeps what it had: without it the sum would fall, as a counter does that begins anew. */
  #sum(field: string): number | undefined {
    let sum = 0
    let lack: NoValue | undefined
    for (const core of this.#sums) {
      if (core.field !== field) continue
      const value = this.#reader.value(core.file, core.parse)
      if (!(value instanceof NoValue)) core.last = Number(value)
      else if (core.last === undefined) lack ??= value
      sum += core.last ?? 0
    }
    if (lack === undefined) this.#absences.present(field)
    else this.#absences.absent(field, lack.code, lack.reason)
    return lack === undefined ? sum : undefined
  }
}
