import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findSharedNames } from '../../scripts/check/names.ts'
import { packageSources, sourceFile } from '../../scripts/check/sources.ts'

const inSchema = sourceFile('packages/sdk/src/schema/a.ts', 'export function read() {}\nexport interface Slot {}')
const inStore = sourceFile('packages/console/server/store/b.ts', 'export const read = 1\nexport type { Slot } from "x"')

test('no two rooms export one name', () => {
  assert.deepEqual(findSharedNames(packageSources()), [])
})

test('a name that two rooms declare is reported with both rooms; a re-export is not', () => {
  assert.deepEqual(findSharedNames([inSchema, inStore]), [
    'read is exported by sdk/schema and console/server/store: give one of them another name',
  ])
})

test('files of one room, and tests, may repeat a name', () => {
  const sibling = sourceFile('packages/sdk/src/schema/c/d.ts', inSchema.text)
  const inTest = sourceFile('packages/agent/src/http/a.test.ts', inSchema.text)
  assert.deepEqual(findSharedNames([inSchema, sibling, inTest]), [])
})
