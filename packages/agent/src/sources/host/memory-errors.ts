import type { Labels, RecordType } from '@sonde/sdk'
import { type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { parseNumber } from '../kernel-text.ts'
import { parseMebibytes, parseText } from './parse-sysfs.ts'
import type { HostReader } from './reader.ts'
import { type FieldFile, FileSeries, type FoundSeries, slowPart } from './slow-part.ts'
import { hostMemoryControllerType, hostMemoryModuleType } from './type.ts'

const FOLDER = ['devices', 'system', 'edac', 'mc'] as const
const CONTROLLER = /^mc(\d{1,4})$/
const MODULE = /^(dimm|rank)\d{1,4}$/
const ROW = /^csrow\d{1,4}$/
const SERIES_LIMIT = 512
/** Each series has a few files, which the kernel answers from memory. */
const READS_PER_SWEEP = 8

/** The name of the file of each field. */
type Names = Readonly<Record<string, string>>

const CONTROLLER_FILES: Names = {
  corrected_errors_total: 'ce_count',
  uncorrected_errors_total: 'ue_count',
  corrected_unplaced_total: 'ce_noinfo_count',
  uncorrected_unplaced_total: 'ue_noinfo_count',
  size_bytes: 'size_mb',
  name: 'mc_name',
}
const MODULE_FILES: Names = {
  corrected_errors_total: 'dimm_ce_count',
  uncorrected_errors_total: 'dimm_ue_count',
  size_bytes: 'size',
  name: 'dimm_label',
  location: 'dimm_location',
  kind: 'dimm_mem_type',
}
const ROW_FILES: Names = {
  corrected_errors_total: 'ce_count',
  uncorrected_errors_total: 'ue_count',
  size_bytes: 'size_mb',
  name: 'ch0_dimm_label',
  kind: 'mem_type',
}

/** Memory errors, counted by the EDAC drivers of the kernel: by controller, and by module or row. */
export const memoryErrors = slowPart({
  types: [
    [hostMemoryControllerType, 'no EDAC driver is loaded: the memory has no ECC, or its firmware keeps the errors'],
    [hostMemoryModuleType, 'no EDAC driver tells modules of memory apart'],
  ],
  limit: ['memory_limit', SERIES_LIMIT],
  readsPerSweep: READS_PER_SWEEP,
  folder: FOLDER,
  finder: (reader) => (names) => memoryOf(reader, names),
})

function memoryOf(reader: HostReader, listed: string[]): FoundSeries[] {
  const { sysfs } = reader
  const series = (type: RecordType, labels: Labels, names: Names, ...path: readonly string[]): FoundSeries => {
    const filesOf = () =>
      Object.entries(names).map(([field, name]) => ({
        field,
        file: sysfs.file(...FOLDER, ...path, name),
        parse: parserOf(type, field),
      }))
    return { type, labels, place: path.join('/'), open: () => new FileSeries(reader, { type, labels }, filesOf()) }
  }
  const found = listed.sort().flatMap((name) => {
    const controller = CONTROLLER.exec(name)?.[1]
    return controller === undefined ? [] : [{ name, controller }]
  })
  const modules = found.flatMap(({ name, controller }) =>
    modulesOf(sysfs, name).map(({ module, names }) =>
      series(hostMemoryModuleType, { controller, module }, names, name, module),
    ),
  )
  const controllers = found.map(({ name, controller }) =>
    series(hostMemoryControllerType, { controller }, CONTROLLER_FILES, name),
  )
  return [...controllers, ...modules]
}

/**
 * Lists modules if the kernel counts by module, otherwise rows of chips, as kernels before 4.10 do. Reading both would
 * count every error twice.
 */
function modulesOf(sysfs: KernelFiles, controller: string): { module: string; names: Names }[] {
  const listed = sysfs.list(...FOLDER, controller)
  if (listed instanceof ReadFailure) return []
  const counts = (module: string) => {
    const files = sysfs.list(...FOLDER, controller, module)
    return !(files instanceof ReadFailure) && files.includes('dimm_ce_count')
  }
  const modules = listed.filter((name) => MODULE.test(name)).sort()
  if (modules.some(counts)) return modules.map((module) => ({ module, names: MODULE_FILES }))
  const rows = listed.filter((name) => ROW.test(name)).sort()
  return rows.map((module) => ({ module, names: ROW_FILES }))
}

function parserOf(type: RecordType, field: string): FieldFile['parse'] {
  if (type.fields[field]?.role === 'counter') return parseNumber
  return field === 'size_bytes' ? parseMebibytes : parseText
}
