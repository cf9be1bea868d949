import { test } from 'node:test';
import { createSource, readRecord, viewsOf, } from '../src/index.js';
/** Random numbers that a seed repeats (mulberry32). */
export class Random {
    seed;
    #state;
    constructor(seed) {
        this.seed = seed;
        this.#state = seed | 0;
    }
    /** From 0 up to, not including, 1. */
    next() {
        this.#state = (this.#state + 0x6d2b79f5) | 0;
        let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    }
    /** A whole number; both bounds may come. */
    integer(low, high) {
        return low + Math.floor(this.next() * (high - low + 1));
    }
    chance(probability) {
        return this.next() < probability;
    }
    pick(from) {
        return from[this.integer(0, from.length - 1)];
    }
    /** 64 random bits. */
    bits64() {
        return (BigInt(this.integer(0, 0xffffffff)) << 32n) | BigInt(this.integer(0, 0xffffffff));
    }
}
/**
 * A test that runs many rounds with random input. Every round has its own seed; a failure says which, and `SONDE_SEED=<seed>` repeats
 * that round alone.
 */
export function property(name, rounds, run) {
    test(name, async () => {
        const given = process.env.SONDE_SEED;
        const first = given === undefined ? Math.floor(Math.random() * 0x7fffffff) : Number(given);
        for (let round = 0; round < (given === undefined ? rounds : 1); round++) {
            const seed = (first + round) | 0;
            try {
                await run(new Random(seed));
            }
            catch (error) {
                throw new Error(`failed with SONDE_SEED=${seed}`, { cause: error });
            }
        }
    });
}
/** A source and everything it emits. */
export function recordingSource(options = {}) {
    const emitted = [];
    const emit = (batch) => {
        const bytes = batch.bytes.slice();
        const views = viewsOf(bytes);
        const { recordBytes } = batch.type.layout;
        const records = Array.from({ length: batch.count }, (_, i) => readRecord(batch.type, views, i * recordBytes, batch.source.symbols));
        emitted.push({ ...batch, bytes, records });
    };
    return { source: createSource({ id: 'test', emit, ...options }), emitted };
}
/** The `code` and a part of the message, for `assert.throws`. */
export function sondeError(code, part = /./) {
    return (error) => error instanceof Error && 'code' in error && error.code === code && part.test(error.message);
}
