import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** An image of a layout on disk, as a runtime reads it. */
export interface StoredImage {
  readonly uid: number
  readonly env: readonly string[]
  readonly entrypoint: readonly string[]
  readonly cmd: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  /** Compressed archives, the lowest first. */
  readonly layers: readonly string[]
}

/** Reads the first image of a layout. */
export function readLayout(folder: string): StoredImage {
  const blob = (digest: string) => join(folder, 'blobs', digest.replace(':', '/'))
  const read = (digest: string) => JSON.parse(readFileSync(blob(digest), 'utf8'))
  const top = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'))
  const manifest = read(read(top.manifests[0].digest).manifests[0].digest)
  const { config } = read(manifest.config.digest)
  return {
    uid: Number(config.User.split(':')[0]),
    env: config.Env,
    entrypoint: config.Entrypoint,
    cmd: config.Cmd,
    labels: config.Labels,
    layers: manifest.layers.map(({ digest }: { readonly digest: string }) => blob(digest)),
  }
}

/** Unpacks the layers of an image. */
export async function unpackLayout({ layers }: StoredImage, rootfs: string): Promise<void> {
  mkdirSync(rootfs, { recursive: true })
  const same = ['--numeric-owner', '--keep-directory-symlink', '-C', rootfs]
  for (const layer of layers) await promisify(execFile)('tar', ['-xzf', layer, ...same])
}
