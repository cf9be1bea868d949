// The JSON Schema docs/traceback.schema.json, from the tables that the reader of rules checks with.

import { rulesSchema } from '../../packages/agent/src/rules/read/rules-schema.ts'

/** The schema as text. */
export function rulesSchemaText(): string {
  return `${JSON.stringify(rulesSchema(), null, 2)}\n`
}
