import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { cgroupOwner } from './cgroup-owner.ts'

interface Case {
  /** Where the path was published. */
  readonly source: string
  /** Content of `/proc/PID/cgroup`, shortened to the lines that count. */
  readonly text: string
  readonly owner: readonly [kind: string, id: string, runtime: string, container: string] | null
}

const CASES = JSON.parse(readFileSync(new URL('fixtures/cgroup-paths.json', import.meta.url), 'utf8')) as Case[]

for (const { source, text, owner } of CASES) {
  test(`owner of a control group: ${source}`, () => {
    const found = cgroupOwner(`${text}\n`)
    assert.deepEqual(found === undefined ? null : [found.kind, found.id, found.runtime, found.container], owner)
  })
}

test('a removed control group keeps its owner', () => {
  assert.equal(cgroupOwner('0::/system.slice/slurmstepd.scope/job_7/step_0 (deleted)\n')?.id, '7')
})

test('any text has an owner or none, and never throws', () => {
  const parts = [
    '/',
    '..',
    ':',
    '\n',
    'kubepods',
    'pod',
    '.slice',
    'job_',
    'slurm',
    '\0',
    '9'.repeat(99),
    'a'.repeat(64),
  ]
  let seed = 7
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed
  }
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: next() % 12 }, () => parts[next() % parts.length]).join('')
    cgroupOwner(text)
  }
  assert.equal(cgroupOwner(`0::/${'a/'.repeat(10_000)}`), undefined)
})
