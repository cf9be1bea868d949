import { DocaFailure } from '../../native/doca/failure.ts'
import type { Argument } from '../../native/doca/library.ts'
import type { DocaSymbol } from '../../native/doca/symbols.ts'
import { writtenBytes } from '../../native/doca/written-bytes.ts'
import { type CheckVerdict, failed, notPossible, passed } from '../check.ts'
import { type Bench, verdictOf } from './bench.ts'
import type { DocaCheck } from './checks.ts'

/** A structure that a call writes. Unit of sizes: bytes. */
export interface CheckedStructure {
  readonly name: string
  readonly call: DocaSymbol
  /** Arguments between the context and the memory. */
  readonly args?: readonly Argument[]
  /** Up to the last field that Sonde reads. */
  readonly readBytes: number
  /** Size in the headers that Sonde knows. */
  readonly knownBytes: number
}

/** The structures of a part. */
export interface LayoutCheck {
  readonly check: DocaCheck
  readonly create: DocaSymbol
  readonly structures: readonly CheckedStructure[]
}

/** The first byte of the last field, plus one: fields are at least one byte long. */
export function endOf(offsets: Readonly<Record<string, number>>): number {
  return Math.max(...Object.values(offsets)) + 1
}

/** Checks that a library writes the structures at least as far as Sonde reads them. */
export async function checkLayout(bench: Bench, { check, create, structures }: LayoutCheck): Promise<void> {
  const { device } = bench
  await bench.check(check, async () => {
    const context = await device.create(create)
    if (context instanceof DocaFailure) return verdictOf(context, device.name)
    try {
      const refused = await device.call(create.replace(/create$/, 'start') as DocaSymbol, context)
      return refused === undefined ? await compared(bench, context, structures) : verdictOf(refused, device.name)
    } finally {
      await device.destroy(context)
    }
  })
}

async function compared(
  { device }: Bench,
  context: bigint,
  structures: readonly CheckedStructure[],
): Promise<CheckVerdict> {
  const [found, wanted, reasons]: string[][] = [[], [], []]
  let isShort = false
  for (const { name, call, args = [], readBytes, knownBytes } of structures) {
    const bytes = await writtenBytes((memory) => device.call(call, context, ...args, memory))
    if (bytes instanceof DocaFailure) {
      reasons?.push(`${name}: ${bytes.name}`)
      continue
    }
    wanted?.push(`${name} at least ${readBytes} bytes`)
    const more = bytes > knownBytes ? `, ${bytes - knownBytes} more than in the headers that Sonde knows` : ''
    found?.push(`${name} ${bytes} bytes${more}`)
    isShort ||= bytes < readBytes
  }
  if (found === undefined || found.length === 0) return notPossible(reasons?.join(', ') ?? '')
  const words = [...found, ...(reasons ?? [])].join('; ')
  return isShort ? failed((wanted ?? []).join('; '), words) : passed(words)
}
