import { type GenericSchema, getDescription } from 'valibot'
import { allowedAt } from './kit.ts'

/** A single setting: its purpose, its allowed values and its default. */
export interface Leaf {
  readonly path: readonly string[]
  readonly kind: 'number' | 'boolean' | 'text' | 'list' | 'dictionary'
  /** The allowed values with range and unit, in the words of an error message. */
  readonly allowed: string
  /** Whether the setting is required. */
  readonly isNeeded: boolean
  /** Undefined without a fixed default. */
  readonly fallback: unknown
  readonly description: string
}

type Parts = GenericSchema & {
  readonly entries?: Readonly<Record<string, GenericSchema>>
  readonly wrapped?: GenericSchema
  readonly getter?: (input: unknown) => GenericSchema
  readonly default?: unknown
}

/** Every setting below a schema, in its order; for a list of blocks, the settings of one block. */
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
