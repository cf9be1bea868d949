import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import type { SourceDefinition } from './source.ts'
import { TestedSource, type TestNode } from './test-node.ts'
import { checkRecord, dataOf, settle, trySample } from './test-records.ts'

/** A file of the running kernel that refuses reads, even for root. */
const REFUSES = '/sys/class/net/lo/speed'
/** A file that cannot be opened for reading. */
export const DENIES = '/sys/bus/cpu/drivers_probe'

/** Options with which a source reads some files of a tree, and these files. */
export interface DamageScope {
  readonly files: RegExp
  readonly options: object
}

/** A source, and a tree whose files a test may damage. */
interface Damaged {
  readonly given: { readonly options?: object; readonly scopes?: readonly DamageScope[]; readonly nameless?: RegExp }
  readonly node: TestNode
}

/** A kind of damage to a file. */
export interface Damage {
  readonly name: string
  readonly skip?: string | undefined
  readonly strike: (node: TestNode, file: string) => void
  /** Whether the damage removes the file. */
  readonly vanishes?: boolean
}

const unless = (file: string) => (fs.existsSync(file) ? undefined : `${file} is not there`)
/** All kinds of damage to a file. */
export const DAMAGES: readonly Damage[] = [
  { name: 'an empty file', strike: (node, file) => node.write(file, '') },
  {
    name: 'a file of garbage',
    strike: (node, file) => node.write(file, 'x1 \0\xff: --\n-\n\n: x y z\n'),
  },
  { name: 'a number too large', strike: (node, file) => node.write(file, `${'9'.repeat(400)}\n`) },
  { name: 'a file of 2 MiB', strike: (node, file) => node.makeLong(file, 'cpu0 1 2\n', 233_017) },
  { name: 'a file of 100 MB', strike: (node, file) => node.makeHuge(file, 100_000_000) },
  { name: 'a file that vanishes', vanishes: true, strike: (node, file) => node.remove(file) },
  { name: 'a folder in place of a file', strike: (node, file) => node.makeFolder(file) },
  { name: 'a FIFO in place of a file', strike: (node, file) => node.makeFifo(file) },
  { name: 'a link to itself', strike: (node, file) => node.link(file, join(node.root, file)) },
  { name: 'a device without end', strike: (node, file) => node.link(file, '/dev/zero') },
  {
    name: 'a file that the driver refuses',
    skip: unless(REFUSES),
    strike: (node, file) => node.link(file, REFUSES),
  },
  {
    name: 'a file that is not permitted',
    skip: unless(DENIES),
    strike: (node, file) => node.link(file, DENIES),
  },
]

/**
 * Damages each file of the tree in turn. The source must report the damage in one of three ways, and must recover after
 * the repair.
 */
export async function checkDamage(
  definition: SourceDefinition,
  { given, node }: Damaged,
  damage: Damage,
): Promise<void> {
  const left = new Set(node.files())
  for (const { files, options } of given.scopes ?? [{ files: /^/, options: given.options ?? {} }]) {
    const own = [...left].filter((file) => files.test(file))
    for (const file of own) left.delete(file)
    await checkFiles({ definition, options, node, nameless: given.nameless }, own, damage)
  }
  assert.deepEqual([...left], [], 'every file has its scope')
}

async function checkFiles(
  {
    definition,
    options,
    node,
    nameless,
  }: {
    readonly definition: SourceDefinition
    readonly options: object
    readonly node: TestNode
    readonly nameless: RegExp | undefined
  },
  files: readonly string[],
  damage: Damage,
): Promise<void> {
  const tested = new TestedSource(definition, node.paths, options)
  const sound = await settle(tested)
  const tells = async () => {
    const fresh = new TestedSource(definition, node.paths, options)
    const thrown = await trySample(fresh)
    for (const { type, record } of dataOf(fresh.take())) checkRecord(fresh, type, record)
    await fresh.source.close()
    return thrown !== '' || fresh.failures.length > 0 || String([...fresh.absent].sort()) !== String(sound.absent)
  }
  assert.ok(!(await tells()), 'tells nothing of a sound tree')
  for (const file of files) {
    const text = node.read(file)
    damage.strike(node, file)
    const isNews = damage.vanishes !== true || nameless?.test(file) !== true
    assert.ok(!isNews || (await tells()), `${file}: nothing says that it cannot be read`)
    await trySample(tested)
    node.write(file, text)
    assert.deepEqual(await settle(tested, sound), sound, `${file}: what is shown is as before`)
  }
  assert.deepEqual(await settle(tested), sound, 'what is shown stays as it was before')
  await tested.source.close()
}
