import { type GenericSchema, getDescription } from 'valibot'
import { allowedAt } from './kit.ts'

/** A single setting: what it is for, what may stand there, and what holds where nothing does. */
export interface Leaf {
  readonly path: readonly string[]
  readonly kind: 'number' | 'boolean' | 'text' | 'list'
  /** As an error message says it, with range and unit. */
  readonly allowed: string
  /** Undefined where there is no fixed one. */
  readonly fallback: unknown
  readonly description: string
}

type Parts = GenericSchema & {
  readonly entries?: Readonly<Record<string, GenericSchema>>
  readonly wrapped?: GenericSchema
  readonly default?: unknown
}

/** Every setting below a schema, in its order. */
export function leavesOf(schema: GenericSchema, path: readonly string[]): Leaf[] {
  const { wrapped, default: fallback } = schema as Parts
  const inner = (wrapped ?? schema) as Parts
  if (inner.entries !== undefined)
    return Object.entries(inner.entries).flatMap(([key, child]) => leavesOf(child, [...path, key]))
  return [
    { path, kind: kindOf(inner.type), allowed: allowedAt(inner), fallback, description: getDescription(inner) ?? '' },
  ]
}

function kindOf(type: string): Leaf['kind'] {
  if (type === 'number' || type === 'boolean') return type
  return type === 'array' ? 'list' : 'text'
}
