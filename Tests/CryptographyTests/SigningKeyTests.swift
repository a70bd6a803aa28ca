import Cryptography
import Testing

/// Keys that were made for these tests by `openssl`, and are used nowhere else.
@Suite struct `Signing keys` {
    @Test(arguments: [
        (Keys.ec, Keys.ecPublic, SignatureKey.Algorithm.ecdsaP256SHA256, 64),
        (Keys.rsa, Keys.rsaPublic, .rsaSHA256, 256),
    ])
    func `sign what the public key verifies`(
        _ pem: String, _ publicPEM: String, _ algorithm: SignatureKey.Algorithm, _ size: Int
    ) throws {
        let key = try SigningKey(privateKeyPEM: pem)
        let publicKey = try SignatureKey(publicKeyPEM: publicPEM)
        #expect(key.algorithm == algorithm && publicKey.algorithm == algorithm)
        // Numbers of an ECDSA signature are now and then shorter than 32 bytes.
        for count in 0..<600 {
            let message = [UInt8](repeating: UInt8(count % 256), count: count)
            let signature = key.signature(of: message)
            #expect(signature.count == size)
            #expect(publicKey.verifies(signature, of: message))
            #expect(!publicKey.verifies(signature, of: message + [1]))
            if algorithm == .rsaSHA256, count > 5 { break }
        }
    }

    @Test(arguments: [
        ("", SigningKeyError.malformed), ("no key", .malformed), (Keys.ecPublic, .malformed), (Keys.locked, .malformed),
        (Keys.p384, .unsupported), (Keys.short, .unsuitableLength),
    ])
    func `other texts are refused`(_ pem: String, _ error: SigningKeyError) {
        #expect(throws: error) { try SigningKey(privateKeyPEM: pem) }
    }
}

private enum Keys {
    static let ec = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXHC10rnPIORdNvgK
        EE3jIPpcaJYj7/NplWNPuxEP51ahRANCAAQNm5ipGUv4jDIES1eHnxOf2ErnY1fI
        2M65QjuokvQoi/u/qy5wFi1mk63SRlMxTURK1zep43iLWE49PhMYK3AU
        -----END PRIVATE KEY-----
        """
    static let ecPublic = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEDZuYqRlL+IwyBEtXh58Tn9hK52NX
        yNjOuUI7qJL0KIv7v6sucBYtZpOt0kZTMU1EStc3qeN4i1hOPT4TGCtwFA==
        -----END PUBLIC KEY-----
        """
    static let rsa = """
        -----BEGIN PRIVATE KEY-----
        MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDjMdpixl/OnPxg
        IZz+S3e/XPWu7iEKso4AVizAJt5TvIRZJQ/GFha1jDv8JiN3UbbHT2ws00Mx/pKW
        o/XcB3nFlvZ6ycnV0Zy52aGAmkoGBZnNN+cZf9QeL9XssnJFRN/mOOzHsJSdqaSL
        +Ef/JcBH8Ii9sXrOkecuTWaM8TRiK1Vz2fb2dWrO8ATUbhGIkkAWaLkI8DFrY/La
        9bV4+97YwO3P+2TPZwp5ljrExwa7tWFmFYLfoQDTQdkR7Dp5bXHr+3gcoIy90d6y
        3q7N3WcDO7xx78PC+/ZRl5Lr6s8oqywVv5GGOITGO4m5F8kB2bRciUEmLZrNroLT
        YHEka8mRAgMBAAECggEAN4M2onRos/4RP3bvGoZ7na8727CVM70xq7zipdfJcqnp
        J7QB0OuURGtdu8xg1ZaKg9Qw8Rn0vPpAPJ0W5ZqRAznSA2obTkqvkgyuZNMuO57y
        N93NMqKUhIS5L2Lhv3GnCKSHnHpVsdlh2o6BnwMNIrbP3pPHV0J4u4xPfqgwHb0V
        gt9aCvnAXKj2M1tqSG9dzCL+13ZfGvs2NoeccjvVjkF7ln/4zuxccTGpbuZ4cxEB
        KoLhzwfahP2MP7dNtbjn88MJM4exDVy2I7ghO8UKq1gT8kPP4HH7FeTik1Mntz0L
        1jR7W4qCedZ/rLk2Y/eQAUMWfg2w8dz5F8ZpzQrbrQKBgQDxtK03+HPyvEynpce+
        haSQ9zhr8QTqgEyqez3fsB018Gw6UFdxw+SMzcmfDFDsdowHpw7yjUqi0QWjrJKW
        WtbJBCOxxDf2hWv9Dp8KmPJstOvEvQSOFtRUGCaov2sY1yqer3KInQDpmYpvzHm+
        kOm2ojeE9pmCF47Z0X76qApTNQKBgQDwoXxON2O22q7stdPxufVfvVEpiyXxf9nG
        SCHoWxJ796IyC8ufpMnAAuKuEoY4PJv97hLrn5hEkXvFqQNm1XWPdsnnIhVPeVoa
        Z1jC6jYawcG+pwi+MPmglnXkH5wfvqjZimDA4+lnE39AFtDy5M9tMb4uZJyU3ym6
        gkY32rxsbQKBgAOi7kA7UrNCNf0Ht3ucUx+DOKwXEjXc/EpMVF/7LFVVaqtt7gLe
        KaAcsH3eF5GXLwAmeUkY6xiMAIO34vS0JSsdDtRr2VOyKi/Ceo4UQwFzr2BkX58r
        pMInIt3DE39qLU/538VCZ3McRkLsVqCRWZLP2fn8I88bP6DzT+/Be3ZJAoGABpc1
        s2K6/XAh6GPWiUFhohyqU2v3PxUUXuTs4NNVv0V6EMrX6eh2iibKFKB3QqUOVLcn
        l4KIhiBB9pj5eeCQ1rwXLZh2YvXc7Oo1uSj3EGaMKu+iQqtOuwJD+lqPSSNMtqCe
        o8naQ7N6AcReNrjjoYcCQX0J+N3f47bbu33nOUUCgYBUbF+OB4m76j0fnsWaz0py
        vAOzANRhIU5gRlyzVZrr2UrwWmpHR4jr2ZgvfF5Ct/0PgFK/+FT2zFX/eFleUK6k
        UuDVYb4UB+9TnASzh0HfdymPk623KD44jALuqeCkOt43QAjkR/w9lUcyvP01doez
        wo8T/N5+tb6wgQSHygvN2Q==
        -----END PRIVATE KEY-----
        """
    static let rsaPublic = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA4zHaYsZfzpz8YCGc/kt3
        v1z1ru4hCrKOAFYswCbeU7yEWSUPxhYWtYw7/CYjd1G2x09sLNNDMf6SlqP13Ad5
        xZb2esnJ1dGcudmhgJpKBgWZzTfnGX/UHi/V7LJyRUTf5jjsx7CUnamki/hH/yXA
        R/CIvbF6zpHnLk1mjPE0YitVc9n29nVqzvAE1G4RiJJAFmi5CPAxa2Py2vW1ePve
        2MDtz/tkz2cKeZY6xMcGu7VhZhWC36EA00HZEew6eW1x6/t4HKCMvdHest6uzd1n
        Azu8ce/Dwvv2UZeS6+rPKKssFb+RhjiExjuJuRfJAdm0XIlBJi2aza6C02BxJGvJ
        kQIDAQAB
        -----END PUBLIC KEY-----
        """
    static let locked = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAja3R1v/rYKfwICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEMjeDGJTMy4UNBm4p7ZNUfEEgZBm
        1rV6wHrw2iynsH8vFS6sxHHsZukEA5lBgHC/DoB0wCgHev6OIDoKjnNK21gojBtn
        FJFwcWMclSjGQOouUx/a+Ei7YOXHpvfeOCY43Sz17gNtONySFY2BSDYlC+4IjvdO
        IT/ikzC3j9m5dx13TlD9/5tySg7wks6hXSmFJd4xdBdbgiMNPBMwf/5n85qWedQ=
        -----END ENCRYPTED PRIVATE KEY-----
        """
    static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBs/Hg2ibCyYdBuR0bl
        NTAfYxRBLrG1bJ8Ej9Pc2/FF98Y6S6WqXoXm60NTesWoiWmhZANiAARYYVTGK4+O
        JHRkQn4BA3y/Aie1gnp6DQYZecCNApLP68BjvcGe2wJaLro4Hkci7Lk/W/u6p6WK
        oE7NkMTJFW7+BoOmH5z3NPFTrwh+dQPRXEEpcLAkRjmLrM5lok0W450=
        -----END PRIVATE KEY-----
        """
    static let short = """
        -----BEGIN PRIVATE KEY-----
        MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBAJElAl72k4MbvWYH
        sRlbAFTRqd1cDasdr18xgPLuDgouad0WKpWivMSepauEE29dHWjEi/jDSAS5A2JZ
        Pq5i5PSOHlS3Fd/TwpJfSNzs7NnENJTdWTavu7dNHngZrnNajlVSil04G3oKIH0f
        QBrzd21AloVgcn4kF4QA1rY82lEfAgMBAAECgYEAjKfG0mw1q3p4YqXVk/LCMXA1
        ItUQUeEkkCWTBth3Npqf8KaIghYAxLHRbpNBmkwsMdk2o83qvtjkVKyTt78SjA6K
        m0RQ2SpqH9BsO6rA0/aYZvNITMKrS0FocO5ag66O6wpm193kZ9nLORB6BNNtjVEi
        dhh3Vps8goQHil/eGuECQQDBAzSUV7cMc8nOxX5LEEtjj5DOIItZlBtWnjcujx3Q
        UXkeLiP62cJ0WbtdGsTcIJC+Y6/i5bmbN/gsbfdoz4VXAkEAwILIr73rZkmr4PHc
        /uyQWM6fzh4vtMRSRJJqT+ucKAcEfeAlAFt7whp9ktPFRcoXtgtd6kv2mHv6FGUT
        YcwteQJAR8ohbGuTshX/IeFjMBhHciib+48vRYpJANaoP7ELrcgf/JG84DjOkugt
        QFwMjLOwIqCBcytu9cTDkgL02w8U0QJBAMBcbsgc0DF/f/3f7+HS5FG49bnyM90/
        Jq1aWFzPo1Pj3zsgVBjNURadfcjPTxnzXEoNhaRuj1PC3hqu/PUGHpECQBxwMbeQ
        A6sOfSjYyr8fdsnS5BsGLdVE2jG8uWdvVUzWB1fFzRMkGapOjwCc8Y50iQ/0r3m6
        HlYUMxdLAvtPiS0=
        -----END PRIVATE KEY-----
        """
}
