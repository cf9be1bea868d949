import { type Batch, type ReadRecord, type Source, type SourceOptions } from '../src/index.ts';
/** Random numbers that a seed repeats (mulberry32). */
export declare class Random {
    #private;
    readonly seed: number;
    constructor(seed: number);
    /** From 0 up to, not including, 1. */
    next(): number;
    /** A whole number; both bounds may come. */
    integer(low: number, high: number): number;
    chance(probability: number): boolean;
    pick<T>(from: readonly T[]): T;
    /** 64 random bits. */
    bits64(): bigint;
}
/**
 * A test that runs many rounds with random input. Every round has its own seed; a failure says which, and `SONDE_SEED=<seed>` repeats
 * that round alone.
 */
export declare function property(name: string, rounds: number, run: (random: Random) => void | Promise<void>): void;
/** A batch that was emitted, its bytes kept, its records read. */
export interface Emitted extends Batch {
    readonly records: readonly ReadRecord[];
}
/** A source and everything it emits. */
export declare function recordingSource(options?: Partial<SourceOptions>): {
    source: Source;
    emitted: Emitted[];
};
/** The `code` and a part of the message, for `assert.throws`. */
export declare function sondeError(code: string, part?: RegExp): (error: unknown) => boolean;
