import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import { SOURCES } from './registry.ts'

test('a name in the registry is that of one source, a name of a type that of one type', () => {
  const names = SOURCES.map(({ name }) => name)
  assert.deepEqual(names, [...new Set(names)])
  const types = [...new Set(SOURCES.flatMap((definition) => definition.types))].map(({ name }) => name)
  assert.deepEqual(types, [...new Set(types)])
})

test('no type has a label or text `node`: the label is that of `export.prometheus.node`', () => {
  const types = SOURCES.flatMap((definition) => definition.types)
  const named = types.filter(({ layout }) => layout.slots.some(({ name }) => name === 'node'))
  assert.deepEqual(
    named.map(({ name }) => name),
    [],
  )
})

for (const { name, types, options, isOnRequest } of SOURCES) {
  test(`the README of ${name} names each type, label, field and option`, () => {
    const own = fs.readFileSync(new URL(`${name.replaceAll('_', '-')}/README.md`, import.meta.url), 'utf8')
    // The types of pods have a page of their own, because several sources report them.
    const isOfPods = own.includes('](../pods/README.md) has their fields')
    const readme = isOfPods ? own + fs.readFileSync(new URL('pods/README.md', import.meta.url), 'utf8') : own
    // Sources that run on request only repeat the types of other sources, whose READMEs describe the fields.
    const documented = isOnRequest === true ? [] : types
    const fields = documented.flatMap((type) => type.layout.slots.filter(({ field }) => field.role !== 'timestamp'))
    const names = [...types, ...fields].map((named) => named.name)
    const { entries } = options as unknown as { entries: Readonly<Record<string, unknown>> }
    const missing = [
      ...names.filter((named) => !readme.includes(`\`${named}\``)),
      ...Object.keys(entries).filter((option) => !new RegExp(`^ +${option}:`, 'm').test(readme)),
    ]
    assert.deepEqual(missing, [])
  })

  test(`the tests of ${name} run the suite that every source passes`, () => {
    const folder = name.replaceAll('_', '-')
    const tests = fs.readFileSync(new URL(`${folder}/${folder}.test.ts`, import.meta.url), 'utf8')
    assert.match(tests, /^testSource\(/m)
  })
}
