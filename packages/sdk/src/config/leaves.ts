import { type GenericSchema, getDescription } from 'valibot'
import { allowedAt } from './kit.ts'

/** A single setting: what it is for, what may stand there, and what holds where nothing does. */
export interface Leaf {
  readonly path: readonly string[]
  readonly kind: 'number' | 'boolean' | 'text' | 'list' | 'dictionary'
  /** As an error message says it, with range and unit. */
  readonly allowed: string
  /** Whether it must be given. */
  readonly isNeeded: boolean
  /** Undefined if there is no fixed one. */
  readonly fallback: unknown
  readonly description: string
}

type Parts = GenericSchema & {
  readonly entries?: Readonly<Record<string, GenericSchema>>
  readonly wrapped?: GenericSchema
  readonly getter?: (input: unknown) => GenericSchema
  readonly default?: unknown
}

/** Every setting below a schema, in its order; of what may be a list of blocks, those of one. */
export function leavesOf(schema: GenericSchema, path: readonly string[]): Leaf[] {
  const { wrapped, default: fallback } = schema as Parts
  const given = (wrapped ?? schema) as Parts
  const inner = (given.getter?.({}) ?? given) as Parts
  if (inner.entries !== undefined)
    return Object.entries(inner.entries).flatMap(([key, child]) => leavesOf(child, [...path, key]))
  const description = getDescription(inner) ?? ''
  return [
    {
      path,
      kind: kindOf(inner.type),
      allowed: allowedAt(inner),
      isNeeded: wrapped === undefined,
      fallback,
      description,
    },
  ]
}

function kindOf(type: string): Leaf['kind'] {
  if (type === 'number' || type === 'boolean') return type
  if (type === 'record') return 'dictionary'
  return type === 'array' ? 'list' : 'text'
}
