import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import { NvmlFailure } from '../../native/nvml/failure.ts'
import type { GpuHandle } from '../../native/nvml/gpu.ts'
import { NvmlLibrary } from '../../native/nvml/library.ts'
import { GpuRoster } from '../../native/nvml/roster.ts'
import { type FieldReading, readGpu } from '../../sources/nvml/fields.ts'
import { findNvmlLibrary } from '../../sources/nvml/find-library.ts'
import { infoOf } from '../../sources/nvml/info.ts'
import { nvmlGpuInfoType, nvmlGpuType } from '../../sources/nvml/type.ts'
import { type CheckVerdict, failed, notPossible } from '../check.ts'
import type { SendFromTest, TestPlan } from '../protocol.ts'
import { testPartOf } from '../protocol.ts'
import { SMI_FIELDS } from './checks.ts'
import { compared, type NvmlValue } from './compare.ts'
import { askNvidiaSmi, type PrintedValues } from './nvidia-smi.ts'

const LIST_MS = 5000
const NOT_COMPARED = new Set(['memory_bytes', 'multiprocessors'])

/** Compares each field of NVML with the value of `nvidia-smi`, and sends what it finds. */
export async function testNvml(plan: TestPlan, send: SendFromTest): Promise<void> {
  const fact = (of: string, value: string) => send({ kind: 'fact', fact: { of, value } })
  const library = loadedLibrary(plan)
  if (typeof library === 'string') return send({ kind: 'nothing', reason: library })
  if (library.isDouble) fact('Library', 'a double of the test suite: its answers are no evidence of hardware')
  const listed = await new GpuRoster(library, LIST_MS).list([])
  if (listed instanceof NvmlFailure) return send({ kind: 'nothing', reason: listed.error.message })
  const gpus = listed.gpus
  if (gpus.length === 0) return send({ kind: 'nothing', reason: 'the driver lists no GPU that answers' })
  send({ kind: 'named', names: gpus.map(({ names }, at) => [names.uuid, `device ${at + 1}`]) })
  for (const [at, { names }] of gpus.entries()) fact(`Device ${at + 1}`, names.model)
  fact('NVIDIA driver', infoOf(gpus[0] as GpuHandle).texts.driver || 'unknown')
  const checks = fieldNames()
  send({
    kind: 'planned',
    checks: gpus.flatMap((_, at) => checks.map((field) => ({ check: `nvml.${field}`, device: at + 1 }))),
  })
  const open = gpus.map((gpu, at) => ({ gpu, device: at + 1 })).filter(({ device }) => isOpen(plan, checks, device))
  // GPUs are read before and after the program, so that a value that moves can be compared.
  const before = new Map<number, Values | NvmlFailure>()
  for (const { gpu, device } of open) {
    send({ kind: 'begun', check: `nvml.${checks[0]}`, device })
    before.set(device, await valuesOf(gpu))
  }
  const printed = await askNvidiaSmi(Object.values(SMI_FIELDS).map(({ smi }) => smi))
  for (const { gpu, device } of open) {
    send({ kind: 'begun', check: `nvml.${checks[0]}`, device })
    const after = await valuesOf(gpu)
    for (const field of checks) {
      const verdict = verdictOf(field, { before: before.get(device), after, printed, uuid: gpu.names.uuid })
      send({ kind: 'result', result: { check: `nvml.${field}`, device, verdict } })
    }
  }
}

type Values = Readonly<Record<string, NvmlValue>>

interface Readings {
  readonly before: Values | NvmlFailure | undefined
  readonly after: Values | NvmlFailure
  /** The values of the program, or why there are none. */
  readonly printed: PrintedValues | string
  readonly uuid: string
}

function verdictOf(field: string, { before, after, printed, uuid }: Readings): CheckVerdict {
  const failure = [before, after].find((one) => one instanceof NvmlFailure)
  if (failure instanceof NvmlFailure) return failed('an answer of NVML', failure.name)
  const smi = SMI_FIELDS[field]
  if (smi === undefined) return notPossible('nvidia-smi prints no such value of a GPU')
  if (typeof printed === 'string') return notPossible(printed)
  const values = printed.gpus.get(uuid)
  if (values === undefined) return failed('a line of nvidia-smi about this GPU', 'none')
  const [first, last] = [before as Values, after as Values]
  return compared(smi, first[field], last[field], printed.unknown.has(smi.smi) ? undefined : values.get(smi.smi))
}

/** Every field of the two types of a GPU, and its model; labels and texts that identify are left out. */
function fieldNames(): string[] {
  const fields = [nvmlGpuType, nvmlGpuInfoType].flatMap(({ fields }) => Object.entries(fields))
  const names = fields.flatMap(([name, { role }]) => (role === 'gauge' || role === 'counter' ? [name] : []))
  return ['model', 'driver', 'vbios', ...names.filter((name) => !NOT_COMPARED.has(name))]
}

async function valuesOf(gpu: GpuHandle): Promise<Values | NvmlFailure> {
  const reading = await readGpu(gpu)
  if (reading instanceof NvmlFailure) return reading
  const { texts, values } = infoOf(gpu)
  const numbers = Object.entries({ ...values, ...reading.values }).map(([name, value]) => [name, known(value)])
  const { driver, vbios } = texts
  return { ...Object.fromEntries(numbers), model: gpu.names.model || undefined, driver, vbios }
}

function known(value: FieldReading): number | bigint | undefined {
  return value instanceof NvmlFailure ? undefined : value
}

function isOpen({ skipped, made }: TestPlan, fields: readonly string[], device: number): boolean {
  const isMade = fields.every((field) => made.includes(`nvml.${field} ${device}`))
  return !isMade && !skipped.includes(testPartOf({ check: 'nvml.', device }))
}

function loadedLibrary({ paths }: TestPlan): NvmlLibrary | string {
  const found = findNvmlLibrary(paths.nvml_library)
  if (typeof found === 'string') return found
  try {
    return new NvmlLibrary(found.path)
  } catch (error) {
    if (!(error instanceof SondeError)) throw error
    return messageOf(error)
  }
}
