import type { Subject } from './subjects.ts'

/** An exporter of a source that reports GPUs and pods. */
export interface Claimant {
  readonly address: string
  /** Whether the exporter has not answered for so long that another may replace it. */
  readonly isSilent: boolean
  /** Called when another claimant takes over the key. */
  yield(key: string, to: string): void
}

/** Why a claim is refused: another exporter or source holds one of the keys. */
export interface Conflict {
  readonly key: string
  /** Address of an exporter, or name of a source. */
  readonly holder: string
}

/** A GPU that a source with direct access to the hardware holds; exporters give it up. */
export interface Holding {
  readonly key: string
  /** Whether the key belongs to no GPU, for example the PCI address of a NIC. */
  readonly isTaken: boolean
  /** Name of the source. */
  readonly holder: string
}

interface Claim {
  /** The first claimant. It takes the key back as soon as it answers again. */
  first: Claimant
  /** The present claimant; undefined if the key is free. */
  holder: Claimant | undefined
}

/**
 * Decides which exporter of a source reports a GPU, a pod or a node: the first that claimed it. The claim stays while
 * the exporter does not answer. After several failed scrapes another exporter may replace it, until the first answers
 * again. A claim covers every key by which views merge records. Otherwise one exporter could overwrite or remove the
 * values of another.
 */
export class Claims {
  readonly #claims = new Map<string, Claim>()
  #held: ReadonlyMap<string, Holding> = new Map()
  /** Increases whenever a key may have become free. */
  version = 0

  /** Claims all keys of a GPU or a pod, or none. Returns the conflict if another claimant holds a key. */
  take({ keys }: Subject, claimant: Claimant): Conflict | undefined {
    const conflict = this.conflictOf(keys)
    if (conflict !== undefined) return conflict
    for (const key of keys) {
      const claim = this.#claims.get(key)
      if (claim?.holder !== undefined && !mayTake(claim, claimant)) return { key, holder: claim.holder.address }
    }
    for (const key of keys) this.#give(key, claimant)
    return undefined
  }

  /** Returns the key that a source of the hardware holds for a different GPU; undefined if there is none. */
  conflictOf([own, ...more]: Subject['keys']): Conflict | undefined {
    // The source knows all GPUs of its node: on this node exporters may report only those.
    const isKnown = this.#held.has(own)
    for (const key of [own, ...more]) {
      const held = this.#held.get(key)
      if (held !== undefined && (!isKnown || held.isTaken)) return { key, holder: held.holder }
    }
    return undefined
  }

  /** Sets the keys that sources of the hardware hold. */
  hold(holdings: readonly Holding[]): void {
    this.#held = new Map(holdings.map((holding) => [holding.key, holding]))
    this.version++
  }

  /** A complete answer of the holder no longer has the key: another may take it, and the first may take it back. */
  release(key: string, claimant: Claimant): void {
    const claim = this.#claims.get(key)
    if (claim?.holder !== claimant) return
    claim.holder = undefined
    this.version++
  }

  /** Removes all rights of a claimant to the key. */
  forget(key: string, claimant: Claimant): void {
    const claim = this.#claims.get(key)
    if (claim === undefined) return
    if (claim.holder === claimant) claim.holder = undefined
    if (claim.first !== claimant) return
    if (claim.holder === undefined) this.#claims.delete(key)
    else claim.first = claim.holder
    this.version++
  }

  /** Called when a claimant has not answered for so long that others may replace it. */
  lapse(): void {
    this.version++
  }

  #give(key: string, claimant: Claimant): void {
    const claim = this.#claims.get(key)
    if (claim === undefined) {
      this.#claims.set(key, { first: claimant, holder: claimant })
      return
    }
    const { holder } = claim
    claim.holder = claimant
    if (holder !== undefined && holder !== claimant) holder.yield(key, claimant.address)
  }
}

function mayTake({ first, holder }: Claim, claimant: Claimant): boolean {
  return holder === claimant || first === claimant || holder?.isSilent === true
}
