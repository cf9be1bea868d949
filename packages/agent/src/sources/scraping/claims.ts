/** Who holds a claim: told when another takes what it does not tell of any more. */
export interface Claimant {
  readonly address: string
  /** Another exporter tells of it from now on. */
  yield(subject: string, to: Claimant): void
}

interface Claim {
  readonly claimant: Claimant
  isSilent: boolean
}

/**
 * Which exporter of a source tells of a GPU or a pod: the first, for as long as it answers and tells of it. Without
 * that one exporter could overwrite, or take away, what another tells; an exporter with two addresses would.
 */
export class Claims {
  readonly #claims = new Map<string, Claim>()
  /** Rises when something may be claimed that could not be before. */
  version = 0

  /** Claims a GPU or a pod; gives the exporter that has it where that is another. */
  take(subject: string, claimant: Claimant): Claimant {
    const before = this.#claims.get(subject)
    if (before !== undefined && before.claimant !== claimant && !before.isSilent) return before.claimant
    if (before?.claimant === claimant) before.isSilent = false
    else {
      this.#claims.set(subject, { claimant, isSilent: false })
      before?.claimant.yield(subject, claimant)
    }
    return claimant
  }

  /** Its exporter does not answer: it stays its own until another tells of it. */
  silence(subject: string): void {
    const claim = this.#claims.get(subject)
    if (claim === undefined || claim.isSilent) return
    claim.isSilent = true
    this.version++
  }

  /** Its exporter tells of it no more. */
  release(subject: string): void {
    this.#claims.delete(subject)
    this.version++
  }
}
