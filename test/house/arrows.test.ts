import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findArrowFaults } from '../../scripts/check/arrows.ts'
import { findOrderFaults } from '../../scripts/check/rooms.ts'
import { packageSources, sourceFile } from '../../scripts/check/sources.ts'

/** The faults of one file that would be at `path`. */
function faultsOf(path: string, text: string): string[] {
  return findArrowFaults([sourceFile(path, text)])
}

test('no file of the packages goes against an arrow', () => {
  const sources = packageSources()
  assert.ok(sources.some((file) => file.imports.some((entry) => entry.specifier === '@sonde/sdk')))
  assert.deepEqual(findArrowFaults(sources), [])
})

test('the sdk imports no other room', () => {
  for (const name of ['@sonde/agent', '@sonde/console', '@sonde/console/store', 'sonde']) {
    assert.equal(faultsOf('packages/sdk/src/a.ts', `import { x } from '${name}'`).length, 1, name)
  }
})

test('agent and console import the sdk but never one another, not even a type or late', () => {
  assert.deepEqual(faultsOf('packages/agent/src/a.ts', "import { x } from '@sonde/sdk'"), [])
  assert.deepEqual(faultsOf('packages/agent/src/a.ts', "\nimport type { X } from '@sonde/console'"), [
    'packages/agent/src/a.ts:2: agent may not import console',
  ])
  assert.deepEqual(faultsOf('packages/console/server/a.ts', "const x = await import('@sonde/agent')"), [
    'packages/console/server/a.ts:1: console may not import agent',
  ])
})

test('a room is imported by its name, also where the arrow allows it', () => {
  const text = "import {\n  a,\n  b,\n} from '../../sdk/src/index.ts'"
  assert.deepEqual(faultsOf('packages/cli/src/a.ts', text), [
    'packages/cli/src/a.ts:4: import @sonde/sdk by its name, not by a path',
  ])
})

test('tests reach the helpers of a room that they may import by their path', () => {
  const text = "import { Random } from '../../sdk/test/random.ts'"
  assert.deepEqual(faultsOf('packages/agent/src/a.test.ts', text), [])
  assert.equal(faultsOf('packages/agent/src/a.ts', text).length, 1)
  assert.equal(faultsOf('packages/console/server/a.test.ts', "import { x } from '../../agent/test/rig.ts'").length, 1)
})

test('a codec imports no module that does I/O, its tests may', () => {
  const text = "import { readFileSync } from 'node:fs'\nimport { Buffer } from 'node:buffer'"
  for (const path of ['sdk/src/wire/otlp/otlp.ts', 'agent/src/sources/netdev/parse.ts', 'sdk/src/sinks/x/encode.ts']) {
    assert.deepEqual(faultsOf(`packages/${path}`, text), [`packages/${path}:1: a codec does no I/O: node:fs`])
  }
  assert.deepEqual(faultsOf('packages/sdk/src/wire/otlp/otlp.test.ts', text), [])
  assert.deepEqual(faultsOf('packages/sdk/src/sinks/files.ts', text), [])
})

test('only main files end the process, and saying so in a comment is no call', () => {
  const text = '// process.exit(1) would lose data\nprocess.exit(1)'
  assert.deepEqual(faultsOf('packages/agent/src/a.ts', text), [
    'packages/agent/src/a.ts:2: only a main file may call process.exit',
  ])
  assert.deepEqual(faultsOf('packages/cli/src/main.ts', text), [])
  assert.deepEqual(faultsOf('packages/agent/src/hosting/host-main.ts', text), [])
})

test('the page imports nothing of Node', () => {
  assert.equal(faultsOf('packages/console/web/a.tsx', "import 'node:path'").length, 1)
  assert.equal(faultsOf('packages/console/web/a.test.ts', "import 'node:test'").length, 0)
})

test('no room imports one above it, but for the pairs that are listed', () => {
  assert.deepEqual(findOrderFaults(packageSources()), [])
})

test('a room that imports one above it, or a room without a place in the order, is told with where it stands', () => {
  const faults = (path: string, text: string) => findOrderFaults([sourceFile(path, text)], [])
  assert.deepEqual(faults('packages/sdk/src/schema/a.ts', "\nimport { x } from '../sinks/x.ts'"), [
    'sdk: schema > sinks goes against the order of rooms: packages/sdk/src/schema/a.ts:2',
  ])
  assert.deepEqual(faults('packages/sdk/src/sinks/a.ts', "import { x } from '../schema/x.ts'"), [])
  assert.equal(faults('packages/agent/src/new-room/a.ts', "import type { x } from '../sources/x.ts'").length, 1)
  assert.equal(faults('packages/agent/src/http/a.ts', "import { x } from '../new-room/x.ts'").length, 1)
  assert.deepEqual(faults('packages/sdk/src/index.ts', "import { x } from './sinks/x.ts'"), [])
  assert.deepEqual(faults('packages/sdk/src/schema/a.test.ts', "import { x } from '../sinks/x.ts'"), [])
})

test('a pair that is gone must leave the list', () => {
  assert.match(findOrderFaults([], ['sdk: a > b'])[0] ?? '', /^sdk: a > b is there no more/)
})
