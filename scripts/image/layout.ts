// The form of the image on disk: an OCI image layout, whose files are named by the hash of their bytes.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Arch } from './arch.ts'
import { runProgram } from './run.ts'

const TYPES = {
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  config: 'application/vnd.oci.image.config.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
} as const

/** Compressed layers from this size on are kept for later builds: that of Node, which takes 5 s and changes rarely. */
const KEPT_BYTES = 64 << 20

/** A reference to a file of the layout. */
export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

/** A layer in the layout. */
export interface Layer extends Descriptor {
  /** Hash of its bytes before compression. */
  readonly diffId: string
  /** Bytes before compression. */
  readonly plainBytes: number
}

/** Files of a layer with one owner and mode. */
export interface LayerFiles {
  readonly folder: string
  /** Paths in the folder. */
  readonly paths: readonly string[]
  /** User and group of the files. */
  readonly owner: number
  /** As chmod takes it. */
  readonly mode: string
}

/** An empty layout in a folder. What the folder had is removed. */
export class Layout {
  readonly #folder: string
  readonly #compressed: string

  /** `compressed` is the folder of compressed layers that are kept for later builds. */
  constructor(folder: string, compressed: string) {
    this.#folder = folder
    this.#compressed = compressed
    mkdirSync(compressed, { recursive: true })
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
    writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  }

  /** Adds a layer. Names decide the order of its files, and their times are 1970: equal files are equal bytes. */
  addLayer(files: readonly LayerFiles[]): Layer {
    const tar = join(this.#folder, 'layer.tar')
    packFiles(tar, files)
    const plain = readFileSync(tar)
    rmSync(tar)
    const diffId = digestOf(plain)
    return { ...this.#add(TYPES.layer, this.#compress(plain, diffId)), diffId, plainBytes: plain.length }
  }

  /** Adds the image of one architecture. */
  addImage(
    arch: Arch,
    config: Readonly<Record<string, unknown>>,
    layers: readonly Layer[],
    labels: Labels,
  ): Descriptor {
    const rootfs = { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) }
    return this.#addJson(TYPES.manifest, {
      schemaVersion: 2,
      mediaType: TYPES.manifest,
      config: this.#addJson(TYPES.config, { architecture: arch, os: 'linux', ...config, rootfs }),
      layers: layers.map(({ mediaType, digest, size }) => ({ mediaType, digest, size })),
      annotations: labels,
    })
  }

  /** Completes the layout by the images of all architectures, under a name. Returns the digest of their index. */
  close(images: Readonly<Partial<Record<Arch, Descriptor>>>, name: string, labels: Labels): string {
    const manifests = Object.entries(images).map(([architecture, image]) => ({
      ...image,
      platform: { os: 'linux', architecture, ...(architecture === 'arm64' ? { variant: 'v8' } : {}) },
    }))
    const index = this.#addJson(TYPES.index, {
      schemaVersion: 2,
      mediaType: TYPES.index,
      manifests,
      annotations: labels,
    })
    const entry = { ...index, annotations: { 'org.opencontainers.image.ref.name': name } }
    writeFileSync(join(this.#folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [entry] }))
    return index.digest
  }

  /** Writes the layout into an archive, as programs load it. */
  archive(path: string): void {
    mkdirSync(dirname(path), { recursive: true })
    rmSync(path, { force: true })
    packFiles(path, [{ folder: this.#folder, paths: ['.'], owner: 0, mode: 'u=rwX,go=rX' }])
  }

  #compress(plain: Buffer, diffId: string): Buffer {
    if (plain.length < KEPT_BYTES) return gzipSync(plain)
    const kept = join(this.#compressed, diffId)
    if (existsSync(kept)) return readFileSync(kept)
    const bytes = gzipSync(plain)
    writeFileSync(`${kept}.${process.pid}`, bytes)
    renameSync(`${kept}.${process.pid}`, kept)
    return bytes
  }

  #addJson(mediaType: string, value: unknown): Descriptor {
    return this.#add(mediaType, Buffer.from(JSON.stringify(value)))
  }

  #add(mediaType: string, bytes: Buffer): Descriptor {
    const digest = digestOf(bytes)
    writeFileSync(join(this.#folder, 'blobs', digest.replace(':', '/')), bytes)
    return { mediaType, digest, size: bytes.length }
  }
}

/** Labels of an image. */
export type Labels = Readonly<Record<string, string>>

function packFiles(tar: string, files: readonly LayerFiles[]): void {
  for (const { folder, paths, owner, mode } of files) {
    const same = [
      '--format=gnu',
      '--sort=name',
      '--mtime=@0',
      '--numeric-owner',
      `--owner=${owner}`,
      `--group=${owner}`,
    ]
    runProgram('tar', ['--append', '-f', tar, ...same, `--mode=${mode}`, '-C', folder, ...paths])
  }
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
