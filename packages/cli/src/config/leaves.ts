import { ROOM_SCHEMAS } from './rooms.ts'

/** A single setting that the environment can give: its key path and the name of the variable. */
export interface Leaf {
  readonly path: readonly string[]
  /** `SONDE_` and the key path in capitals: `SONDE_EXPORT_PROMETHEUS_PORT`. */
  readonly variable: string
}

interface SchemaNode {
  readonly type: string
  readonly entries?: Readonly<Record<string, SchemaNode>>
  readonly wrapped?: SchemaNode
}

/** Every setting below the top-level blocks; lists such as `data_sources` are not among them. */
export function leaves(): Leaf[] {
  return Object.entries(ROOM_SCHEMAS).flatMap(([key, schema]) => leavesOf(schema as unknown as SchemaNode, [key]))
}

function leavesOf(schema: SchemaNode, path: readonly string[]): Leaf[] {
  const inner = schema.wrapped ?? schema
  if (inner.entries !== undefined)
    return Object.entries(inner.entries).flatMap(([key, child]) => leavesOf(child, [...path, key]))
  return [{ path, variable: `SONDE_${path.join('_').toUpperCase()}` }]
}
