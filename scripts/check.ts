// `npm run check`: what a reviewer would look for, without running anything. One line a step, or what it found.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findArrowFaults } from './check/arrows.ts'
import { findLongComments, findLongProse } from './check/comments.ts'
import { findBrokenLinks } from './check/doc-links.ts'
import { findUndocumented } from './check/docs.ts'
import { findWrongFigures } from './check/figures.ts'
import { findStalePages } from './check/generated.ts'
import { findSharedNames } from './check/names.ts'
import { findOrderFaults } from './check/rooms.ts'
import { filesOf, packageSources, root } from './check/sources.ts'

/** Answers what it found, a line each; nothing where all is well. */
type Step = () => string[] | Promise<string[]>

const steps: Record<string, Step> = {
  types: () => run('typescript/bin/tsc', ['-p', 'tsconfig.json', '--pretty', 'false']),
  'types of the page': () =>
    existsSync(join(root, 'packages/console/web'))
      ? run('typescript/bin/tsc', ['-p', 'tsconfig.web.json', '--pretty', 'false'])
      : [],
  'lint and format': () => run('@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']),
  'length of comments': () =>
    findLongComments(filesOf('{packages,scripts,test,bench,examples}/**/*.{ts,tsx,mjs,css}'), root),
  'width of Markdown': () => findLongProse(filesOf('**/*.md'), root),
  'import arrows': () => findArrowFaults(packageSources()),
  'order of rooms': () => findOrderFaults(packageSources()),
  'names of one room': () => findSharedNames(packageSources()),
  'unused exports': () => run('knip/bin/knip.js', ['--no-progress', '--no-config-hints']),
  'doc links': () => findBrokenLinks(filesOf('**/*.md'), root),
  'quoted figures': () => findWrongFigures(root),
  'documented exports': () => findUndocumented(root),
  'generated pages': () => findStalePages(root),
}

/** Runs a program of an installed package; what it prints is a finding where it fails. */
function run(program: string, args: string[]): Promise<string[]> {
  return new Promise((resolve) => {
    const options = { cwd: root, maxBuffer: 64 * 1024 * 1024 }
    execFile(process.execPath, [join(root, 'node_modules', program), ...args], options, (error, stdout, stderr) => {
      const printed = `${stdout}${stderr}`.trim()
      resolve(error === null ? [] : [printed || error.message])
    })
  })
}

async function check(name: string, step: Step): Promise<boolean> {
  const started = performance.now()
  const findings = await step()
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${findings.length === 0 ? 'ok  ' : 'FAIL'} ${name} ${seconds} s`)
  for (const finding of findings) console.log(finding.replace(/^/gm, '     '))
  return findings.length === 0
}

const passed = await Promise.all(Object.entries(steps).map(([name, step]) => check(name, step)))
process.exitCode = passed.every(Boolean) ? 0 : 1
